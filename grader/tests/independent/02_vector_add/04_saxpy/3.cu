// Design: grid-stride loop with four elements in flight
#include "04_saxpy.h"

__global__ void saxpy_grid_stride(float a, const float* x, float* y, int n) {
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; i + 3 * stride < n; i += 4 * stride) {
    float u[4], v[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) u[j] = x[i + j * stride], v[j] = y[i + j * stride];
#pragma unroll
    for (int j = 0; j < 4; ++j) y[i + j * stride] = a * u[j] + v[j];
  }
  for (; i < n; i += stride) y[i] = a * x[i] + y[i];
}

void launch_saxpy(float a, const float* d_x, float* d_y, int n, int block, int max_blocks) {
  if (n == 0) return;
  const int needed = (n + block - 1) / block;
  saxpy_grid_stride<<<needed < max_blocks ? needed : max_blocks, block>>>(a, d_x, d_y, n);
}
