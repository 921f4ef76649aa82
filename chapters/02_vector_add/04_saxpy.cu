// 02/04 Saxpy: y = a * x + y with a grid-stride loop, for any grid and any block.
//   x, y        n floats in device memory, 0 <= n <= 10^9; y is updated in place
//   block       threads per block, 1 to 1024, chosen by the caller
//   max_blocks  most blocks to launch, >= 1; the loop makes up for those that are missing
//   TODOs       2
#include "04_saxpy.h"

__global__ void saxpy_grid_stride(float a, const float* x, float* y, int n) {
  // TODO(1): Every element is updated by exactly one thread, whatever the grid (about 4 lines).
}

void launch_saxpy(float a, const float* d_x, float* d_y, int n, int block, int max_blocks) {
  // TODO(2): As many blocks as cover n, but at most max_blocks, and none for n = 0.
  saxpy_grid_stride<<<1, block>>>(a, d_x, d_y, n);
}
