// Design: up to 1024 threads, padded, a sine and cosine for every butterfly
#include "03_fft_radix2.h"
#include "support.h"

__device__ inline unsigned place(unsigned i) { return i + i / 16; }

__global__ void fft_radix2(const float2* x, float2* y, int n, int log2_n) {
  extern __shared__ float2 points[];  // point i is points[place(i)]
  const int t = threadIdx.x, threads = blockDim.x;
  x += static_cast<size_t>(blockIdx.x) * n;
  y += static_cast<size_t>(blockIdx.x) * n;
  for (int i = t; i < n; i += threads) points[place(__brev(i) >> (32 - log2_n))] = x[i];
  for (int half = 1; half < n; half *= 2) {
    __syncthreads();  // the points of the stage before are complete
    for (int b = t; b < n / 2; b += threads) {
      const int j = b & (half - 1), low = 2 * b - j;
      const float2 kept = points[place(low)];
      const float2 turned = turn(0.5f * j / half) * points[place(low + half)];
      points[place(low)] = kept + turned;
      points[place(low + half)] = kept - turned;
    }
  }
  __syncthreads();
  for (int i = t; i < n; i += threads) y[i] = points[place(i)];
}

void launch_fft_radix2(const float2* d_x, float2* d_y, int n, int batch) {
  if (batch == 0) return;
  int log2_n = 0;
  while (1 << log2_n < n) ++log2_n;
  const int block = n / 2 < 1024 ? n / 2 : 1024;
  const size_t shared = (n + n / 16) * sizeof(float2);
  fft_radix2<<<batch, block, shared>>>(d_x, d_y, n, log2_n);
}
