// 03/07 Constant polynomial: coefficients that all threads read at the same time.
//   x, y          n floats in device memory, n >= 0
//   coefficients  terms floats in host memory, 1 <= terms <= kMaxTerms
//   y[i] = c[0] + c[1] * x[i] + c[2] * x[i]^2 + ... with `terms` terms
//   Constant memory: 64 KiB that kernels can only read, with a cache of its own. A load of which
//   all threads of a warp want the same word takes one step and serves all 32 (a broadcast); each
//   further word takes a further step.
//   TODOs         2
#include "07_constant_polynomial.h"

__constant__ float coefficients[kMaxTerms];  // [power]

__global__ void polynomial_constant(const float* x, float* y, int terms, int n) {
  //~ // TODO(1): y[i] is the polynomial at x[i], for every i below n. x[i] is loaded once, and at each
  //~ // step all lanes of a warp want the same coefficient (about 8 lines).
  //~begin 1
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  const float at = x[i];
  for (int k = terms - 1; k >= 0; --k) {
    sum = sum * at + coefficients[k];  // k is the same in all threads: one word for the warp
  }
  y[i] = sum;
  //~end
}

void launch_polynomial(const float* h_coefficients, int terms, const float* d_x, float* d_y,
                       int n) {
  //~ // TODO(2): The symbol holds the terms that there are, before the kernel reads them; and every
  //~ // element of y has its thread (about 6 lines).
  //~begin 2
  // A symbol is named, not pointed to. In one stream, the copy comes before the kernel.
  cudaMemcpyToSymbol(coefficients, h_coefficients, terms * sizeof(float));
  constexpr int kBlock = 256;  // threads
  const int grid = (n + kBlock - 1) / kBlock;
  if (grid > 0) {
    polynomial_constant<<<grid, kBlock>>>(d_x, d_y, terms, n);
  }
  //~end
}
