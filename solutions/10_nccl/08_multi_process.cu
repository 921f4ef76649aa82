// 10/08 Multi-process: one process per GPU, on one machine or on several.
//   world    the other processes: who this one is, and two ways to tell them something
//   member   what this process has: a communicator, a device, a stream
//   NCCL finds the other ranks by a unique id: one rank makes it, and it has to reach all others
//   some other way. After that all talk goes through the communicator.
//   TODOs    4
#include <chrono>
#include <vector>

#include "08_multi_process.h"

int local_rank(const uint64_t* hosts, int rank) {
  //~ static_cast<void>(hosts);
  //~ return rank;  // TODO(1): Count the ranks below this one on the same machine (about 5 lines).
  //~begin 1
  int count = 0;
  for (int other = 0; other < rank; ++other) {
    count += hosts[other] == hosts[rank] ? 1 : 0;
  }
  return count;
  //~end
}

ncclResult_t join(World& world, Member* member) {
  const uint64_t mine = host_id();
  std::vector<uint64_t> hosts(world.ranks());
  world.all_gather(&mine, hosts.data(), sizeof mine);
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return ncclUnhandledCudaError;
  member->device = local_rank(hosts.data(), world.rank()) % devices;
  if (cudaSetDevice(member->device) != cudaSuccess) return ncclUnhandledCudaError;
  if (cudaStreamCreateWithFlags(&member->stream, cudaStreamNonBlocking) != cudaSuccess) {
    return ncclUnhandledCudaError;
  }
  ncclUniqueId id = {};
  ncclResult_t result = ncclSuccess;
  //~ // TODO(2): One rank makes the id. Every rank needs that one (about 2 lines).
  //~begin 2
  if (world.rank() == 0) result = ncclGetUniqueId(&id);
  world.broadcast(&id, sizeof id, 0);  // also after an error: the others wait for it
  if (result != ncclSuccess) return result;
  //~end
  //~ // TODO(3): Join with this rank's number (1 line).
  //~ static_cast<void>(&id);
  //~ result = ncclInvalidUsage;
  //~begin 3
  result = ncclCommInitRank(&member->comm, world.ranks(), id, world.rank());
  //~end
  return result;
}

ncclResult_t mean_over_ranks(const Member& member, float* d_x, size_t n) {
  // No group: this process has one rank, the others make their calls themselves.
  return ncclAllReduce(d_x, d_x, n, ncclFloat, ncclAvg, member.comm, member.stream);
}

ncclResult_t wait_or_abort(Member* member, double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  ncclResult_t result = ncclSuccess;
  //~ // TODO(4): Ask the stream again and again whether its work is done, and the communicator whether
  //~ // it has failed, until one of the two says so or time is over (about 12 lines). A rank that has
  //~ // died never comes: cudaStreamSynchronize would wait for it for ever.
  //~ static_cast<void>(end);
  //~ cudaStreamSynchronize(member->stream);
  //~begin 4
  while (true) {
    const cudaError_t done = cudaStreamQuery(member->stream);
    ncclResult_t state = ncclSuccess;
    result = ncclCommGetAsyncError(member->comm, &state);
    if (result == ncclSuccess && state != ncclInProgress) result = state;
    if (done != cudaSuccess && done != cudaErrorNotReady) result = ncclUnhandledCudaError;
    if (result == ncclSuccess && done == cudaSuccess) return ncclSuccess;
    if (result == ncclSuccess && Clock::now() >= end) result = ncclRemoteError;
    if (result != ncclSuccess) break;
  }
  ncclCommAbort(member->comm);  // ends what is still waiting on the device
  member->comm = nullptr;
  //~end
  return result;
}
