// 11/05, given: y = x^2 + x + 1, read once and written once.
#include <cuda_runtime.h>

__global__ void poly_kernel(const float* x, float* y, long n) {
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = x[i] * x[i] + x[i] + 1;
}

// x, y: n floats on the device. Waits for nothing.
extern "C" void poly(const float* x, float* y, long n, void* stream) {
  constexpr int kBlock = 256;
  if (n == 0) return;
  poly_kernel<<<(n + kBlock - 1) / kBlock, kBlock, 0, static_cast<cudaStream_t>(stream)>>>(x, y, n);
}
