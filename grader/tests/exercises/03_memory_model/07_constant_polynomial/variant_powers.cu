// Another right answer: rising powers, a grid-stride loop, a copy to the symbol's address.
#include "07_constant_polynomial.h"

struct Table {
  float of[kMaxTerms];
};
__constant__ Table table;

__global__ void polynomial_powers(const float* x, float* y, int terms, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float sum = table.of[0], power = 1.0f;
    const float at = x[i];
    for (int k = 1; k < terms; ++k) {
      power *= at;
      sum = fmaf(table.of[k], power, sum);
    }
    y[i] = sum;
  }
}

void launch_polynomial(const float* h_coefficients, int terms, const float* d_x, float* d_y,
                       int n) {
  void* address = nullptr;
  cudaGetSymbolAddress(&address, table);
  cudaMemcpy(address, h_coefficients, terms * sizeof(float), cudaMemcpyHostToDevice);
  if (n > 0) polynomial_powers<<<(n + 511) / 512, 128>>>(d_x, d_y, terms, n);
}
