// Given code of 04/12: what the two stages do with a tile.
#ifndef CHAPTERS_04_ATOMICS_12_HAND_OVER_SUPPORT_H_
#define CHAPTERS_04_ATOMICS_12_HAND_OVER_SUPPORT_H_

#include <cuda_runtime.h>

// First stage: a reading outside of [-1, 1] is a fault of the sensor.
__host__ __device__ inline float clipped(float reading) {
  return reading < -1.0f ? -1.0f : reading > 1.0f ? 1.0f : reading;
}

// Second stage: the mean of a reading and its two neighbours in the tile, which has `size` readings
// (at least 1); at an end, the reading stands in for the neighbour that is missing.
__host__ __device__ inline float smoothed(const float* tile, int i, int size) {
  const float left = tile[i > 0 ? i - 1 : i], right = tile[i + 1 < size ? i + 1 : i];
  return (left + tile[i] + right) / 3.0f;
}

#endif  // CHAPTERS_04_ATOMICS_12_HAND_OVER_SUPPORT_H_
