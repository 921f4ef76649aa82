// 05/01 Divergence: left and right samples need different work; give every warp only one kind.
//   x, y    n floats in device memory, n >= 0, interleaved: even positions left, odd ones right
//   y[i] = left_channel(x[i]) for even i, right_channel(x[i]) for odd i
//   Predict first (TODO 1), then change which element a thread takes (TODO 2).
//   TODOs   2
#include "01_divergence.h"

constexpr int kBlock = 256;  // threads

// A kernel contains `branches` two-way branches. How many launches does its work take?
int predicted_launches(int branches) {
  //~ // TODO(1): Both predictions: this one (1 line), and the passes below (about 7 lines).
  //~ return branches;
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
  //~ // TODO(2): Every warp has left and right samples here, so it goes both ways. Let the even warps
  //~ // take the left samples of 64 neighbours, the odd warps the right ones (about 5 lines).
  //~ const int i = blockIdx.x * blockDim.x + threadIdx.x;
  //~ const bool is_left = i % 2 == 0;
  //~begin 2
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  // Warps 2k and 2k + 1 share 64 elements: the same sectors, read by both, cost less than the
  // paths.
  const int i = blockIdx.x * blockDim.x + warp / 2 * 64 + 2 * lane + warp % 2;
  const bool is_left = warp % 2 == 0;
  //~end
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
