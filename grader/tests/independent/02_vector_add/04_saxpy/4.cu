// four independent loads of x and y per round with explicit fmaf and unsigned 64-bit indices
#include "04_saxpy.h"

__global__ void saxpy_grid_stride(float a, const float* x, float* y, int n) {
  const size_t end = n, stride = static_cast<size_t>(gridDim.x) * blockDim.x;
  size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; i + 3 * stride < end; i += 4 * stride) {
    float v[4], w[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) v[k] = __ldg(x + i + k * stride);
#pragma unroll
    for (int k = 0; k < 4; ++k) w[k] = y[i + k * stride];
#pragma unroll
    for (int k = 0; k < 4; ++k) y[i + k * stride] = fmaf(a, v[k], w[k]);
  }
  for (; i < end; i += stride) y[i] = fmaf(a, x[i], y[i]);
}

void launch_saxpy(float a, const float* d_x, float* d_y, int n, int block, int max_blocks) {
  const int needed = (n + block - 1) / block;
  const int blocks = needed < max_blocks ? needed : max_blocks;
  if (blocks > 0) saxpy_grid_stride<<<blocks, block>>>(a, d_x, d_y, n);
}
