// 08/03 FFT, radix 2: a block for each transform, all stages in shared memory.
//   x, y   batch transforms of n complex values each, n a power of two from 2 to 4096
//          y[k] = sum over i of x[i] turn(i k / n); + - * and turn() are in support.h
//   Shared memory leaves a float2 out after each 16 (place): points a power of two apart, as in a
//   bit reversal, then lie in different banks.
//   A stage makes transforms of 2 half points out of pairs of `half` points: n / 2 butterflies, in
//   place. It begins with the points in bit-reversed order.
//   TODOs  2
#include "03_fft_radix2.h"
#include "support.h"

__device__ inline unsigned place(unsigned i) { return i + i / 16; }

__global__ void fft_radix2(const float2* x, float2* y, int n, int log2_n) {
  extern __shared__ float2 points[];  // n + n / 16: point i is points[place(i)]
  const int t = threadIdx.x, threads = blockDim.x;
  x += static_cast<size_t>(blockIdx.x) * n;
  y += static_cast<size_t>(blockIdx.x) * n;
  // TODO(1): Load all n points, point i to the place of the number whose log2_n bits are those of
  // i reversed. __brev(i) reverses 32 bits; shift the rest away (about 3 lines).
  for (int i = t; i < n; i += threads) points[place(__brev(i) >> (32 - log2_n))] = x[i];
  for (int half = 1; half < n; half *= 2) {
    __syncthreads();  // closes write against read: the pairs of this stage come from other threads
    const float part = 0.5f / half;  // of a turn, between neighbouring roots: 1 / (2 half)
    float2 root;
    for (int b = t; b < n / 2; b += threads) {
      const int j = b & (half - 1);  // b % half: half is a power of two
      // The butterflies of a thread lie `threads` apart: while half is no more, they share a root.
      if (b == t || half > threads) root = turn(part * j);
      // TODO(2): Butterfly b is number j of its pair of transforms, which begins at 2 (b - j).
      // Multiply the lower point by root, then write sum and difference (about 6 lines).
      const int low = 2 * (b - j) + j;
      const float2 p = points[place(low)], q = root * points[place(low + half)];
      points[place(low)] = p + q;
      points[place(low + half)] = p - q;
    }
  }
  // No barrier: a thread writes the points that its own butterflies of the last stage have made.
  for (int k = t; k < n; k += threads) y[k] = points[place(k)];
}

void launch_fft_radix2(const float2* d_x, float2* d_y, int n, int batch) {
  int log2_n = 0;
  while (1 << log2_n < n) ++log2_n;
  const int block = n < 256 ? n / 2 : n / 8;  // threads: a power of two
  const size_t shared = (n + n / 16) * sizeof(float2);
  if (batch > 0) {
    fft_radix2<<<batch, block, shared>>>(d_x, d_y, n, log2_n);
  }
}
