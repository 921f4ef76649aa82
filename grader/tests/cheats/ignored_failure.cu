// Launches what cannot be launched and swallows the error.
//
// fails: never written|refused|2048
#include "05_vectorized_add.h"

__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

void launch_vectorized_add(const float* d_a, const float* d_b, float* d_c, int n) {
  if (n > 0) add<<<(n + 2047) / 2048, 2048>>>(d_a, d_b, d_c, n);
  cudaGetLastError();
}
