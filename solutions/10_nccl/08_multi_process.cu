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
  //~ return rank;  // TODO(1): The number of this rank among those of its own machine (about 5 lines).
  //~begin 1
  int count = 0;
  for (int other = 0; other < rank; ++other) {
    count += hosts[other] == hosts[rank] ? 1 : 0;
  }
  return count;
  //~end
}

//~begin 2
static cudaError_t take_device(const uint64_t* hosts, int rank, Member* member) {
  int devices = 0;
  cudaError_t error = cudaGetDeviceCount(&devices);
  if (error == cudaSuccess && devices == 0) error = cudaErrorNoDevice;
  if (error != cudaSuccess) return error;
  member->device = local_rank(hosts, rank) % devices;
  error = cudaSetDevice(member->device);
  if (error != cudaSuccess) return error;
  return cudaStreamCreateWithFlags(&member->stream, cudaStreamNonBlocking);
}

//~end
ncclResult_t join(World& world, Member* member) {
  ncclResult_t result = ncclSuccess;
  //~ // TODO(2): This process has a device of its own on its machine, which is current, and a stream
  //~ // there that waits for no other (about 10 lines).
  //~begin 2
  const uint64_t mine = host_id();
  std::vector<uint64_t> hosts(world.ranks());
  world.all_gather(&mine, hosts.data(), sizeof mine);
  // No return before the last call of world: the others would wait for it.
  if (take_device(hosts.data(), world.rank(), member) != cudaSuccess) {
    result = ncclUnhandledCudaError;
  }
  //~end
  //~ // TODO(3): It has a communicator over all processes, in which it bears its own rank (about 5 lines).
  //~ static_cast<void>(world), static_cast<void>(member);
  //~ result = ncclInvalidUsage;
  //~begin 3
  ncclUniqueId id = {};
  if (world.rank() == 0 && result == ncclSuccess) result = ncclGetUniqueId(&id);
  world.broadcast(&id, sizeof id, 0);  // also after an error: the others wait for it
  if (result != ncclSuccess) return result;
  result = ncclCommInitRank(&member->comm, world.ranks(), id, world.rank());
  //~end
  return result;
}

ncclResult_t mean_over_ranks(const Member& member, float* d_x, size_t n) {
  //~ // TODO(3), too: The mean over all ranks, in place (1 line). Who makes the calls of the others?
  //~ static_cast<void>(member), static_cast<void>(d_x), static_cast<void>(n);
  //~ return ncclSuccess;
  //~begin 3
  // No group: this process has one rank, the others make their calls themselves.
  return ncclAllReduce(d_x, d_x, n, ncclFloat, ncclAvg, member.comm, member.stream);
  //~end
}

ncclResult_t wait_or_abort(Member* member, double seconds) {
  //~ // TODO(4): Comes back when the work of the stream is done, when the communicator has failed, or
  //~ // when time is over, whichever is first; after the latter two the communicator is gone (about 17
  //~ // lines). This here waits for ever for a rank that has died.
  //~ static_cast<void>(seconds);
  //~ cudaStreamSynchronize(member->stream);
  //~ return ncclSuccess;
  //~begin 4
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  ncclResult_t result = ncclSuccess;
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
  return result;
  //~end
}
