// The last rank makes the id, everybody talks before anything else is made, and the loop ends in one place.
#include <chrono>
#include <vector>

#include "08_multi_process.h"

int local_rank(const uint64_t* hosts, int rank) {
  int count = 0;
  for (int other = 0; other < rank; ++other) {
    count += hosts[other] == hosts[rank] ? 1 : 0;
  }
  return count;
}

ncclResult_t join(World& world, Member* member) {
  const uint64_t mine = host_id();
  std::vector<uint64_t> hosts(world.ranks());
  world.all_gather(&mine, hosts.data(), sizeof mine);
  ncclUniqueId id = {};
  ncclResult_t result = ncclSuccess;
  const int last = world.ranks() - 1;
  if (world.rank() == last) result = ncclGetUniqueId(&id);
  world.broadcast(&id, sizeof id, last);
  if (result != ncclSuccess) return result;
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return ncclUnhandledCudaError;
  member->device = local_rank(hosts.data(), world.rank()) % devices;
  if (cudaSetDevice(member->device) != cudaSuccess) return ncclUnhandledCudaError;
  if (cudaStreamCreateWithFlags(&member->stream, cudaStreamNonBlocking) != cudaSuccess) {
    return ncclUnhandledCudaError;
  }
  result = ncclCommInitRank(&member->comm, world.ranks(), id, world.rank());
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
  cudaError_t done = cudaErrorNotReady;
  do {
    done = cudaStreamQuery(member->stream);
    ncclCommGetAsyncError(member->comm, &result);
    if (result == ncclInProgress) result = ncclSuccess;
  } while (result == ncclSuccess && done == cudaErrorNotReady && Clock::now() < end);
  if (result == ncclSuccess && done == cudaSuccess) return ncclSuccess;
  if (result == ncclSuccess) result = ncclRemoteError;
  ncclCommAbort(member->comm);  // ends what is still waiting on the device
  member->comm = nullptr;
  return result;
}
