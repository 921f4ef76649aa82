// 05/01 Divergence: left and right samples need different work; give every warp only one kind.
//   x, y    n floats in device memory, n >= 0, interleaved: even positions left, odd ones right
//   y[i] = left_channel(x[i]) for even i, right_channel(x[i]) for odd i
//   Predict first (TODO 1), then change which sample a thread takes (TODO 2); the starter's kernel
//   is right, and goes both ways in every warp.
//   TODOs   2
#include "01_divergence.h"

constexpr int kBlock = 256;  // threads

// A kernel contains `branches` two-way branches. How many launches does its work take?
int predicted_launches(int branches) {
  return branches;  // TODO(1): What you expect, here (1 line) and below (about 7 lines).
}

// Lane l of a warp takes path[l] of a branch. How often does the warp go through the branch?
int predicted_passes(const int path[32]) {
  return 0;
}

__global__ void process_channels(const float* x, float* y, int n) {
  // TODO(2): Right, and slow: every warp has left and right samples. Each sample is still
  // processed by one thread, but all lanes of a warp go the same way (about 11 lines).
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = i % 2 == 0 ? left_channel(x[i]) : right_channel(x[i]);
}

void launch_process_channels(const float* d_x, float* d_y, int n) {
  // Still TODO(2): A thread for every sample, with any n; no launch for none (about 4 lines).
  if (n > 0) process_channels<<<1, kBlock>>>(d_x, d_y, n);
}
