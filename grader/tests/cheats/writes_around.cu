// Right inside, and writes around its output, where the grader may keep something.
//
// fails: wrote past|element 1024 of `c`, which has 1024
#include "05_vectorized_add.h"

__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
  if (i < 4) c[n + i] = 0;
}

void launch_vectorized_add(const float* d_a, const float* d_b, float* d_c, int n) {
  if (n > 0) add<<<(n + 255) / 256, 256>>>(d_a, d_b, d_c, n);
}
