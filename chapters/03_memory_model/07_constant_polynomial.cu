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
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  // TODO(1): Horner's rule: begin with the highest term, and for each lower one multiply by x[i]
  // and add the coefficient (about 4 lines).
  y[i] = sum;
}

void launch_polynomial(const float* h_coefficients, int terms, const float* d_x, float* d_y,
                       int n) {
  // TODO(2): Copy the coefficients from the host into the symbol (1 line).
  constexpr int kBlock = 256;  // threads
  const int grid = (n + kBlock - 1) / kBlock;
  if (grid > 0) {
    polynomial_constant<<<grid, kBlock>>>(d_x, d_y, terms, n);
  }
}
