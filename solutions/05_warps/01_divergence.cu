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
  //~ return branches;  // TODO(1): What you expect, here (1 line) and below (about 7 lines).
  //~begin 1
  return 1;  // a branch is an instruction of the one kernel that was launched
  //~end
}

// Lane l of a warp takes path[l] of a branch. How often does the warp go through the branch?
int predicted_passes(const int path[32]) {
  //~ return 0;
  //~begin 1
  int passes = 0;
  for (int lane = 0; lane < 32; ++lane) {
    bool is_new = true;  // lanes of one path go together, whatever their number
    for (int before = 0; before < lane; ++before) is_new = is_new && path[before] != path[lane];
    passes += is_new;
  }
  return passes;
  //~end
}

__global__ void process_channels(const float* x, float* y, int n) {
  //~ // TODO(2): Right, and slow: every warp has left and right samples. Each sample is still
  //~ // processed by one thread, but all lanes of a warp go the same way (about 11 lines).
  //~ const int i = blockIdx.x * blockDim.x + threadIdx.x;
  //~ if (i < n) y[i] = i % 2 == 0 ? left_channel(x[i]) : right_channel(x[i]);
  //~begin 2
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  // Warps 2k and 2k + 1 share 64 elements: the same sectors, read by both, cost less than the
  // paths.
  const int i = blockIdx.x * blockDim.x + warp / 2 * 64 + 2 * lane + warp % 2;
  const bool is_left = warp % 2 == 0;
  if (i < n) {
    if (is_left) {
      y[i] = left_channel(x[i]);
    } else {
      y[i] = right_channel(x[i]);
    }
  }
  //~end
}

void launch_process_channels(const float* d_x, float* d_y, int n) {
  //~ // Still TODO(2): A thread for every sample, with any n; no launch for none (about 4 lines).
  //~ if (n > 0) process_channels<<<1, kBlock>>>(d_x, d_y, n);
  //~begin 2
  const int grid = (n + kBlock - 1) / kBlock;
  if (grid > 0) {
    process_channels<<<grid, kBlock>>>(d_x, d_y, n);
  }
  //~end
}
