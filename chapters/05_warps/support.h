// Given code of chapter 05, for exercises 03 and later: what 02 and 05 are about, ready to use.
// All 32 lanes of the warp must call these together.
#ifndef CHAPTERS_05_WARPS_SUPPORT_H_
#define CHAPTERS_05_WARPS_SUPPORT_H_

constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kWarp = 32;  // lanes

// Sum of the 32 values, in every lane. Lanes that are `offset` apart exchange, five times.
__device__ inline float warp_sum(float value) {
  for (int offset = kWarp / 2; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(kAllLanes, value, offset);
  }
  return value;
}

// The greatest of the 32 values, in every lane.
__device__ inline float warp_max(float value) {
  for (int offset = kWarp / 2; offset > 0; offset /= 2) {
    value = fmaxf(value, __shfl_xor_sync(kAllLanes, value, offset));
  }
  return value;
}

// Lane l gets the sum of the values of lanes 0 to l.
__device__ inline float warp_inclusive_sum(float value) {
  const int lane = threadIdx.x % kWarp;
  for (int offset = 1; offset < kWarp; offset *= 2) {
    const float before = __shfl_up_sync(kAllLanes, value, offset);
    if (lane >= offset) value += before;  // lanes below `offset` got their own value back
  }
  return value;
}

#endif  // CHAPTERS_05_WARPS_SUPPORT_H_
