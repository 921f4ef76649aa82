// Another right answer: 64-bit index, while loop, explicit fused multiply-add.
#include "04_saxpy.h"

__global__ void saxpy_wide_index(float a, const float* x, float* y, long long n) {
  long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  while (i < n) {
    y[i] = fmaf(a, x[i], y[i]);
    i += static_cast<long long>(blockDim.x) * gridDim.x;
  }
}

void launch_saxpy(float a, const float* d_x, float* d_y, int n, int block, int max_blocks) {
  if (n <= 0) return;
  int grid = (n - 1) / block + 1;
  if (grid > max_blocks) grid = max_blocks;
  saxpy_wide_index<<<grid, block>>>(a, d_x, d_y, n);
}
