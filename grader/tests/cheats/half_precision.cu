// Adds in half precision.
//
// fails: expected
#include <cuda_fp16.h>

#include "05_vectorized_add.h"

__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = __half2float(__hadd(__float2half(a[i]), __float2half(b[i])));
}

void launch_vectorized_add(const float* d_a, const float* d_b, float* d_c, int n) {
  if (n > 0) add<<<(n + 255) / 256, 256>>>(d_a, d_b, d_c, n);
}
