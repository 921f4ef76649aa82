// Another right answer: a while loop over 64-bit indices, fmaxf, blocks of 128 threads.
#include "05_grid_stride.h"

__global__ void relu_wide(const float* x, float* y, int n) {
  size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  while (i < static_cast<size_t>(n)) {
    y[i] = fmaxf(x[i], 0.0f);
    i += static_cast<size_t>(blockDim.x) * gridDim.x;
  }
}

void launch_relu_on(int blocks, int threads, const float* d_x, float* d_y, int n) {
  relu_wide<<<blocks, threads>>>(d_x, d_y, n);
}

void launch_relu(const float* d_x, float* d_y, int n) {
  int blocks = (n + 127) / 128;
  if (blocks == 0) {
    return;
  }
  if (blocks > 64) {
    blocks = 64;
  }
  launch_relu_on(blocks, 128, d_x, d_y, n);
}
