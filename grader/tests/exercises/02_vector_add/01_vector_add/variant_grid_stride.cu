// Another right answer: blocks of 128 threads, each thread strides over the array by the whole
// grid.
#include "01_vector_add.h"

__global__ void vector_add_strided(const float* a, const float* b, float* c, int n) {
  const int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    c[i] = a[i] + b[i];
  }
}

void launch_vector_add(const float* d_a, const float* d_b, float* d_c, int n) {
  constexpr int kBlock = 128;  // threads
  constexpr int kMostBlocks = 8;
  if (n == 0) {
    return;
  }
  const int needed = (n + kBlock - 1) / kBlock;
  const int grid = needed < kMostBlocks ? needed : kMostBlocks;
  vector_add_strided<<<grid, kBlock>>>(d_a, d_b, d_c, n);
}
