// 02/01 Vector add: one thread adds one pair of elements.
//   a, b, c  n floats each, in device memory
//   n        any size, also 0, and rarely a multiple of the block
//   TODOs    2
#include "01_vector_add.h"

__global__ void vector_add(const float* a, const float* b, float* c, int n) {
  // TODO(1): c[i] = a[i] + b[i] for every i below n, and nothing else is touched (4 lines).
}

void launch_vector_add(const float* d_a, const float* d_b, float* d_c, int n) {
  constexpr int kBlock = 256;  // threads
  vector_add<<<1, kBlock>>>(d_a, d_b, d_c, n);  // TODO(2): A thread for each of n elements.
}
