// 02/01 Vector add: one thread adds one pair of elements.
//   a, b, c  n floats each, in device memory
//   n        any size, also 0, and rarely a multiple of the block
//   TODOs    2
#include "01_vector_add.h"

__global__ void vector_add(const float* a, const float* b, float* c, int n) {
  // TODO(1): Find the element of this thread and add it, unless it lies past the end (4 lines).
}

void launch_vector_add(const float* d_a, const float* d_b, float* d_c, int n) {
  constexpr int kBlock = 256;  // threads
  const int grid = 0;  // TODO(2): Count the blocks that cover n elements, rounding up (1 line).
  // A grid of 0 blocks is refused by the runtime, and with n = 0 there is nothing to launch.
  if (grid > 0) {
    vector_add<<<grid, kBlock>>>(d_a, d_b, d_c, n);
  }
}
