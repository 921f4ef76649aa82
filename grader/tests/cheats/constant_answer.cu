// The mean of the answers.
//
// fails: expected
#include "05_vectorized_add.h"

__global__ void guess(float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = 0;
}

void launch_vectorized_add(const float* d_a, const float* d_b, float* d_c, int n) {
  if (n > 0) guess<<<(n + 255) / 256, 256>>>(d_c, n);
}
