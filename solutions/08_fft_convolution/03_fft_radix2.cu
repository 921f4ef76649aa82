// 08/03 FFT, radix 2: a block for each transform, all stages in shared memory.
//   x, y   batch transforms of n complex values each, n a power of two from 2 to 4096
//          y[k] = sum over i of x[i] turn(i k / n); + - * and turn() are in support.h
//   Shared memory leaves a float2 out after each 16 (place): points a power of two apart, as in a
//   bit reversal, then lie in different banks.
//   TODOs  2
#include "03_fft_radix2.h"
#include "support.h"

__device__ inline unsigned place(unsigned i) { return i + i / 16; }

__global__ void fft_radix2(const float2* x, float2* y, int n, int log2_n) {
  extern __shared__ float2 points[];  // n + n / 16: point i is points[place(i)]
  const int t = threadIdx.x, threads = blockDim.x;
  x += static_cast<size_t>(blockIdx.x) * n;
  y += static_cast<size_t>(blockIdx.x) * n;
  //~ // TODO(1): All n points of x are in shared memory, each read once, in the order in which the
  //~ // stages take them: point i where the log2_n bits of i, reversed, say (about 3 lines).
  //~ for (int i = t; i < n; i += threads) points[place(i)] = x[i];
  //~begin 1
  for (int i = t; i < n; i += threads) {
    points[place(__brev(i) >> (32 - log2_n))] = x[i];
  }
  //~end
  //~ // TODO(2): After each of log2_n stages the shared memory holds transforms of twice as many
  //~ // points as before, and behind the last one y has the whole transform, each value written once.
  //~ // The number of threads, in the launcher, is yours (about 17 lines).
  //~ __syncthreads();  // other threads have loaded what this one writes to y, in the wrong order
  //~ for (int k = t; k < n; k += threads) y[k] = points[place(k)];
  //~begin 2
  for (int half = 1; half < n; half *= 2) {
    __syncthreads();  // closes write against read: the pairs of this stage come from other threads
    const float part = 0.5f / half;  // of a turn, between neighbouring roots: 1 / (2 half)
    float2 root;
    for (int b = t; b < n / 2; b += threads) {
      const int j = b & (half - 1);  // b % half: half is a power of two
      // The butterflies of a thread lie `threads` apart: while half is no more, they share a root.
      if (b == t || half > threads) root = turn(part * j);
      const int upper = 2 * (b - j) + j, lower = upper + half;
      const float2 turned = root * points[place(lower)];
      const float2 kept = points[place(upper)];
      points[place(upper)] = kept + turned;
      points[place(lower)] = kept - turned;
    }
  }
  // No barrier: a thread writes the points that its own butterflies of the last stage have made.
  for (int k = t; k < n; k += threads) y[k] = points[place(k)];
  //~end
}

void launch_fft_radix2(const float2* d_x, float2* d_y, int n, int batch) {
  int log2_n = 0;
  while (1 << log2_n < n) ++log2_n;
  //~ const int block = 2;  // threads: one of the things that TODO(2) leaves to you
  //~begin 2
  const int block = n < 256 ? n / 2 : n / 8;  // threads: a power of two
  //~end
  const size_t shared = (n + n / 16) * sizeof(float2);
  if (batch > 0) {
    fft_radix2<<<batch, block, shared>>>(d_x, d_y, n, log2_n);
  }
}
