// Given code of chapter 04.
#ifndef CHAPTERS_04_ATOMICS_SUPPORT_H_
#define CHAPTERS_04_ATOMICS_SUPPORT_H_

#include <cuda_runtime.h>

// Blocks of `kernel` that the current device runs at the same time. A grid of this size fills the
// card once: its blocks loop over the data and write their results once, however much data there
// is.
template <class Kernel>
int blocks_on_card(Kernel kernel, int threads_per_block) {
  int device = 0, multiprocessors = 0, per_multiprocessor = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, kernel, threads_per_block, 0);
  return multiprocessors * per_multiprocessor;
}

// Sum of v over the 32 lanes of a warp, valid in lane 0; all lanes take part. Each step adds the
// value of the lane that is `offset` higher, register to register; chapter 05 takes it apart.
__device__ inline float warp_sum(float v) {
  for (int offset = 16; offset > 0; offset /= 2) {
    v += __shfl_down_sync(0xFFFFFFFFu, v, offset);
  }
  return v;
}

#endif  // CHAPTERS_04_ATOMICS_SUPPORT_H_
