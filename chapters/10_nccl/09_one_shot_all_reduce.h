// 10/09 One-shot all-reduce: what the test calls.
#ifndef CHAPTERS_10_NCCL_09_ONE_SHOT_ALL_REDUCE_H_
#define CHAPTERS_10_NCCL_09_ONE_SHOT_ALL_REDUCE_H_

#include <cuda_runtime.h>

constexpr int kMostDevices = 16;

// d_y[d] = the sum of d_x[0], d_x[1], ... on every device, the same bits on all. Kernels of device
// d read d_x of all devices, which have been given access to each other.
//   d_x[d], d_y[d]  n floats on device d, aligned to 16 bytes and apart from each other
//   ready[d]        an event of device d, for this call alone
//   devices         2 .. kMostDevices
//   streams[d]      what it has been given before writes d_x[d]
//   n               from 0
// d_x is not written again before wait_for_readers(). Does not wait; the current device stays what
// it was. This function and the one below return the first error.
cudaError_t one_shot_all_reduce(const float* const* d_x, float* const* d_y, int n,
                                const cudaEvent_t* ready, const cudaStream_t* streams, int devices);

// What the streams are given behind this call begins when every device has read what it needed, and
// may write d_x again. done[d]: an event of device d, for this call alone.
cudaError_t wait_for_readers(const cudaEvent_t* done, const cudaStream_t* streams, int devices);

#endif  // CHAPTERS_10_NCCL_09_ONE_SHOT_ALL_REDUCE_H_
