// 05/01 Divergence: left and right samples need different work; give every warp only one kind.
//   x, y    n floats in device memory, n >= 0, interleaved: even positions left, odd ones right
//   y[i] = left_channel(x[i]) for even i, right_channel(x[i]) for odd i
//   Predict first (TODO 1), then change which element a thread takes (TODO 2).
//   TODOs   2
#include "01_divergence.h"

constexpr int kBlock = 256;  // threads

// A kernel contains `branches` two-way branches. How many launches does its work take?
int predicted_launches(int branches) {
  // TODO(1): Both predictions: this one (1 line), and the passes below (about 7 lines).
  return branches;
}

// Lane l of a warp takes path[l] of a branch. How often does the warp go through the branch?
int predicted_passes(const int path[32]) {
  return 0;
}

__global__ void process_channels(const float* x, float* y, int n) {
  // TODO(2): Every warp has left and right samples here, so it goes both ways. Let the even warps
  // take the left samples of 64 neighbours, the odd warps the right ones (about 5 lines).
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool is_left = i % 2 == 0;
  if (i < n) {
    if (is_left) {
      y[i] = left_channel(x[i]);
    } else {
      y[i] = right_channel(x[i]);
    }
  }
}

void launch_process_channels(const float* d_x, float* d_y, int n) {
  const int grid = (n + kBlock - 1) / kBlock;
  if (grid > 0) {
    process_channels<<<grid, kBlock>>>(d_x, d_y, n);
  }
}
