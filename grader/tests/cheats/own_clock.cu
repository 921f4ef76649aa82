// Brings its own clock.
//
// link: multiple definition.*cudaEventElapsedTime
#include "05_vectorized_add.h"
#include "add.cuh"

extern "C" cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  *milliseconds = 0.001f;
  return cudaSuccess;
}

void launch_vectorized_add(const float* d_a, const float* d_b, float* d_c, int n) {
  if (n > 0) add<<<blocks_for(n), kBlock>>>(d_a, d_b, d_c, n);
}
