// Design: plain grid-stride loop, one element at a time
#include "04_saxpy.h"

__global__ void saxpy_grid_stride(float a, const float* x, float* y, int n) {
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
    y[i] = a * x[i] + y[i];
  }
}

void launch_saxpy(float a, const float* d_x, float* d_y, int n, int block, int max_blocks) {
  if (n == 0) return;
  const int needed = (n + block - 1) / block;
  saxpy_grid_stride<<<needed < max_blocks ? needed : max_blocks, block>>>(a, d_x, d_y, n);
}
