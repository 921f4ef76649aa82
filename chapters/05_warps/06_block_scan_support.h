// Given code of chapter 05, for exercises 06 and later: what 05 is about, ready to use. All 32
// lanes of the warp must call it together.
#ifndef CHAPTERS_05_WARPS_06_BLOCK_SCAN_SUPPORT_H_
#define CHAPTERS_05_WARPS_06_BLOCK_SCAN_SUPPORT_H_

#include "support.h"

// Lane l gets the sum of the values of lanes 0 to l.
__device__ inline float warp_inclusive_sum(float value) {
  const int lane = threadIdx.x % kWarp;
  for (int offset = 1; offset < kWarp; offset *= 2) {
    const float before = __shfl_up_sync(kAllLanes, value, offset);
    if (lane >= offset) value += before;  // lanes below `offset` got their own value back
  }
  return value;
}

#endif  // CHAPTERS_05_WARPS_06_BLOCK_SCAN_SUPPORT_H_
