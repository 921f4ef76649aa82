// 01/05 Grid-stride loop: ReLU over n elements, right for any n with any grid.
//   x, y   n floats in device memory, y[i] = x[i] where x[i] > 0, else 0
//   n      any size, also 0; the grid may have fewer threads than n, as many, or more
//   TODOs  2
#include "05_grid_stride.h"

constexpr int kBlock = 256;     // threads
constexpr int kMaxBlocks = 32;  // for any n: the loop does the rest

__global__ void relu(const float* x, float* y, int n) {
  //~ // TODO(1): Every element is done by exactly one thread, whatever the grid, and threads that
  //~ // are neighbours do neighbouring elements at the same time (about 5 lines).
  //~begin 1
  const int first = blockIdx.x * blockDim.x + threadIdx.x;
  const int stride = gridDim.x * blockDim.x;  // all threads of the grid
  // In every round neighbouring threads touch neighbouring elements. One chunk of consecutive
  // elements per thread would give the same answer with the addresses of a warp far apart.
  for (int i = first; i < n; i += stride) {
    y[i] = x[i] > 0.0f ? x[i] : 0.0f;
  }
  //~end
}

void launch_relu_on(int blocks, int threads, const float* d_x, float* d_y, int n) {
  relu<<<blocks, threads>>>(d_x, d_y, n);
}

void launch_relu(const float* d_x, float* d_y, int n) {
  //~ // TODO(2): No more blocks than n needs, at most kMaxBlocks, none for n = 0 (about 5 lines).
  //~ launch_relu_on(kMaxBlocks, kBlock, d_x, d_y, n);
  //~begin 2
  const int needed = (n + kBlock - 1) / kBlock;
  const int blocks = needed < kMaxBlocks ? needed : kMaxBlocks;
  if (blocks > 0) {
    launch_relu_on(blocks, kBlock, d_x, d_y, n);
  }
  //~end
}
