// Leaves the sum in an input as well, to find it there the next time.
//
// fails: is an input|was changed
#include "05_vectorized_add.h"

__global__ void add(float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] = a[i] + b[i];
}

void launch_vectorized_add(const float* d_a, const float* d_b, float* d_c, int n) {
  if (n > 0) add<<<(n + 255) / 256, 256>>>(const_cast<float*>(d_a), d_b, d_c, n);
}
