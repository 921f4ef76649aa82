// 01/05 Grid-stride loop: ReLU over n elements, right for any n with any grid.
//   x, y   n floats in device memory, y[i] = x[i] where x[i] > 0, else 0
//   n      any size, also 0; the grid may have fewer threads than n, as many, or more
//   TODOs  2
#include "05_grid_stride.h"

constexpr int kBlock = 256;     // threads
constexpr int kMaxBlocks = 32;  // for any n: the loop does the rest

__global__ void relu(const float* x, float* y, int n) {
  // TODO(1): Let this thread do the element at its global index, then the one that lies a whole
  // grid of threads further on, and so on, up to n (about 5 lines).
}

void launch_relu_on(int blocks, int threads, const float* d_x, float* d_y, int n) {
  relu<<<blocks, threads>>>(d_x, d_y, n);
}

void launch_relu(const float* d_x, float* d_y, int n) {
  // TODO(2): Launch no more blocks than n needs, and still at most kMaxBlocks (2 lines).
  const int blocks = kMaxBlocks;
  if (blocks > 0) {
    launch_relu_on(blocks, kBlock, d_x, d_y, n);
  }
}
