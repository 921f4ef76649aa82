// Leaves out a quarter of a large array.
//
// fails: never written
#include "05_vectorized_add.h"

__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && (n < 50000 || i % 4 != 3)) c[i] = a[i] + b[i];
}

void launch_vectorized_add(const float* d_a, const float* d_b, float* d_c, int n) {
  if (n > 0) add<<<(n + 255) / 256, 256>>>(d_a, d_b, d_c, n);
}
