// Given code of chapter 05, for exercises 07 and later: what 06 is about, ready to use. All threads
// of the block must call it together.
#ifndef CHAPTERS_05_WARPS_07_SCAN_THREE_KERNELS_SUPPORT_H_
#define CHAPTERS_05_WARPS_07_SCAN_THREE_KERNELS_SUPPORT_H_

#include "06_block_scan_support.h"

// Thread t gets the sum of the values of threads 0 to t, and *total is that of all, in every
// thread. May be called again at once.
template <int kThreads>
__device__ float block_inclusive_sum(float value, float* total) {
  __shared__ float warp_totals[kThreads / kWarp];  // [warp], then the sum of warps 0 to w
  const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  value = warp_inclusive_sum(value);
  if (lane == kWarp - 1) warp_totals[warp] = value;
  __syncthreads();  // the first warp reads the totals of all
  if (warp == 0) {
    const float sums = warp_inclusive_sum(lane < kThreads / kWarp ? warp_totals[lane] : 0.0f);
    if (lane < kThreads / kWarp) warp_totals[lane] = sums;
  }
  __syncthreads();  // all read what the first warp has written
  if (warp > 0) value += warp_totals[warp - 1];
  *total = warp_totals[kThreads / kWarp - 1];
  __syncthreads();  // the next call writes warp_totals: nobody may still be reading
  return value;
}

#endif  // CHAPTERS_05_WARPS_07_SCAN_THREE_KERNELS_SUPPORT_H_
