// Decimation in frequency: the points come in their natural order, the halves shrink, and the
// results are fetched in bit-reversed order. An eighth as many threads as points.
#include "03_fft_radix2.h"
#include "support.h"

__device__ inline unsigned apart(unsigned i) { return i + i / 16 + i / 256; }

__global__ void fft_from_the_top(const float2* x, float2* y, int n, int bits) {
  extern __shared__ float2 points[];  // apart(n)
  const size_t begin = static_cast<size_t>(blockIdx.x) * n;
  for (int i = threadIdx.x; i < n; i += blockDim.x) points[apart(i)] = x[begin + i];
  for (unsigned half = n / 2; half >= 1; half /= 2) {
    __syncthreads();  // closes write against read
    const float part = 0.5f / half;
    float2 root;
    for (unsigned b = threadIdx.x; b < n / 2; b += blockDim.x) {
      const int j = b & (half - 1), upper = apart(2 * (b - j) + j);
      const int lower = apart(2 * (b - j) + j + half);
      const float2 sum = points[upper] + points[lower];
      const float2 difference = points[upper] - points[lower];
      points[upper] = sum;
      if (b == threadIdx.x || half > blockDim.x) root = turn(part * j);
      points[lower] = root * difference;
    }
  }
  __syncthreads();  // closes write against read
  for (int k = threadIdx.x; k < n; k += blockDim.x) {
    y[begin + k] = points[apart(__brev(k) >> (32 - bits))];
  }
}

void launch_fft_radix2(const float2* d_x, float2* d_y, int n, int batch) {
  int bits = 1;
  while (1 << bits < n) ++bits;
  const size_t shared = (n + n / 16 + n / 256 + 1) * sizeof(float2);
  const int block = n < 8 ? 1 : n / 8;
  if (batch > 0) fft_from_the_top<<<batch, block, shared>>>(d_x, d_y, n, bits);
}
