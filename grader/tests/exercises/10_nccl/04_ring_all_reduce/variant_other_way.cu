// The parts go round the other way: every rank sends to the one before it.
#include <algorithm>

#include "04_ring_all_reduce.h"

Part part_of(size_t n, int devices, int k) {
  const size_t length = longest_part(n, devices);
  const size_t begin = std::min(n, k * length);
  return {begin, std::min(length, n - begin)};
}

// The part that `rank` sends in step 0, 1, ..., 2 (devices - 1) - 1.
static int sent_part(int rank, int step, int devices) { return (rank + step) % devices; }

// One step of all devices: part sent_part goes to the rank before. `to` tells where it arrives.
template <class To>
static ncclResult_t exchange(float* const* d_x, size_t n, int step, const ncclComm_t* comms,
                             const cudaStream_t* streams, int devices, const To& to) {
  ncclGroupStart();
  for (int d = 0; d < devices; ++d) {
    const int next = (d + 1) % devices, previous = (d + devices - 1) % devices;
    const Part out = part_of(n, devices, sent_part(d, step, devices));
    const Part in = part_of(n, devices, sent_part(next, step, devices));
    ncclRecv(to(d, in), in.length, ncclFloat, next, comms[d], streams[d]);
    ncclSend(d_x[d] + out.begin, out.length, ncclFloat, previous, comms[d], streams[d]);
  }
  return ncclGroupEnd();
}

ncclResult_t ring_all_reduce(float* const* d_x, float* const* d_space, size_t n,
                             const ncclComm_t* comms, const cudaStream_t* streams, int devices) {
  int before = 0;
  cudaGetDevice(&before);
  ncclResult_t result = ncclSuccess;
  int step = 0;
  for (; step < devices - 1 && result == ncclSuccess; ++step) {
    result = exchange(d_x, n, step, comms, streams, devices,
                      [&](int d, const Part&) { return d_space[d]; });
    for (int d = 0; d < devices; ++d) {
      const Part in = part_of(n, devices, sent_part((d + 1) % devices, step, devices));
      cudaSetDevice(d);
      launch_add(d_x[d] + in.begin, d_space[d], in.length, streams[d]);
    }
    if (cudaGetLastError() != cudaSuccess) result = ncclUnhandledCudaError;
  }
  for (; step < 2 * devices - 2 && result == ncclSuccess; ++step) {
    result = exchange(d_x, n, step, comms, streams, devices,
                      [&](int d, const Part& in) { return d_x[d] + in.begin; });
  }
  cudaSetDevice(before);
  return result;
}
