// 10/04 Ring all-reduce: each part of the array goes round the ring of devices twice.
//   d_x[d]      n floats on device d, any n;  d_space[d]  longest_part(n, devices) floats
//   Parts, ranks and steps count from 0, and go round: behind the last comes the first.
//   First round, devices - 1 steps: a rank sends a part to the next rank, which adds its own
//   values. So part k sets out at rank k, and is the sum of all when it has arrived at rank k - 1.
//   Second round, devices - 1 steps: the finished parts go on, and replace what is there.
//   TODOs       3
#include <algorithm>

#include "04_ring_all_reduce.h"

Part part_of(size_t n, int devices, int k) {
  const size_t length = longest_part(n, devices);
  //~ // TODO(1): Where part k begins, and how much of it lies in the array (about 2 lines).
  //~ static_cast<void>(k);
  //~ return {0, std::min(n, length)};
  //~begin 1
  const size_t begin = std::min(n, k * length);
  return {begin, std::min(length, n - begin)};
  //~end
}

// The part that `rank` sends in step 0, 1, ..., 2 (devices - 1) - 1.
static int sent_part(int rank, int step, int devices) {
  //~ static_cast<void>(step), static_cast<void>(devices);
  //~ return rank;  // TODO(2): In which order do the parts leave this rank, in both rounds (1 line)?
  //~begin 2
  // From its own part one back in every step: in step devices - 1 that is part rank + 1, the one
  // that the last step of the first round has finished here.
  return (rank - step % devices + devices) % devices;
  //~end
}

ncclResult_t ring_all_reduce(float* const* d_x, float* const* d_space, size_t n,
                             const ncclComm_t* comms, const cudaStream_t* streams, int devices) {
  //~ // TODO(3): The steps of both rounds. In each, every rank sends one part to the next rank and gets
  //~ // one from the rank before, at the same time; in the first round it adds what has come, in the
  //~ // stream of its device, and in the second it keeps it (about 28 lines).
  //~ static_cast<void>(d_x), static_cast<void>(d_space), static_cast<void>(n);
  //~ static_cast<void>(comms), static_cast<void>(streams), static_cast<void>(devices);
  //~ static_cast<void>(&sent_part);
  //~ return ncclSuccess;
  //~begin 3
  int before = 0;
  cudaGetDevice(&before);
  ncclResult_t result = ncclSuccess;
  for (int step = 0; step < 2 * (devices - 1) && result == ncclSuccess; ++step) {
    const bool adds = step < devices - 1;  // first round
    result = ncclGroupStart();
    for (int d = 0; d < devices && result == ncclSuccess; ++d) {
      const int next = (d + 1) % devices, previous = (d + devices - 1) % devices;
      const Part out = part_of(n, devices, sent_part(d, step, devices));
      const Part in = part_of(n, devices, sent_part(previous, step, devices));
      result = ncclSend(d_x[d] + out.begin, out.length, ncclFloat, next, comms[d], streams[d]);
      if (result != ncclSuccess) break;
      float* const to = adds ? d_space[d] : d_x[d] + in.begin;
      result = ncclRecv(to, in.length, ncclFloat, previous, comms[d], streams[d]);
    }
    const ncclResult_t ended = ncclGroupEnd();
    if (result == ncclSuccess) result = ended;
    for (int d = 0; d < devices && adds && result == ncclSuccess; ++d) {
      const Part in = part_of(n, devices, sent_part((d + devices - 1) % devices, step, devices));
      cudaSetDevice(d);
      launch_add(d_x[d] + in.begin, d_space[d], in.length, streams[d]);
      if (cudaGetLastError() != cudaSuccess) result = ncclUnhandledCudaError;
    }
  }
  cudaSetDevice(before);
  return result;
  //~end
}
