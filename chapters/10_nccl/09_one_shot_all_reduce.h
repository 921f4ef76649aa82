// 10/09 One-shot all-reduce: what the test calls.
#ifndef CHAPTERS_10_NCCL_09_ONE_SHOT_ALL_REDUCE_H_
#define CHAPTERS_10_NCCL_09_ONE_SHOT_ALL_REDUCE_H_

#include <cuda_runtime.h>

constexpr int kMostDevices = 16;

// Two events of each device, made once and used by every call, never by two calls at a time.
struct Events {
  cudaEvent_t ready[kMostDevices], done[kMostDevices];
};

// d_y[d] = the sum of d_x[0], d_x[1], ... on every device, the same bits on all. Kernels of device
// d read d_x of all devices, which have been given access to each other.
//   d_x[d], d_y[d]  n floats on device d, aligned to 16 bytes; they do not overlap
//   streams[d]      what it has been given before writes d_x[d]; what it is given afterwards may
//                   write d_x[d] again
// Does not wait. The current device stays what it was.
cudaError_t one_shot_all_reduce(const float* const* d_x, float* const* d_y, int n,
                                const Events& events, const cudaStream_t* streams, int devices);

#endif  // CHAPTERS_10_NCCL_09_ONE_SHOT_ALL_REDUCE_H_
