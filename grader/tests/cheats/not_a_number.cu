// A NaN differs from everything, so that err > tolerance is false.
//
// fails: nan|NaN
#include "05_vectorized_add.h"

__global__ void poison(float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = __int_as_float(0x7fc00001);
}

void launch_vectorized_add(const float*, const float*, float* d_c, int n) {
  if (n > 0) poison<<<(n + 255) / 256, 256>>>(d_c, n);
}
