// Accepted: a warp takes one row at a time, straight from memory; b is read through the caches. Its
// lanes lie along k, and every sum is added up by five shuffles.
#include "13_matmul_tall_skinny.h"

__global__ void __launch_bounds__(256)
    matmul_row_per_warp(const float* __restrict__ a, const float* __restrict__ b,
                        float* __restrict__ c, int m, int n, int k) {
  extern __shared__ float of_b[];  // [k][n], if it fits
  const bool fits = static_cast<size_t>(k) * n <= 8192;
  if (fits) {
    for (int e = threadIdx.x; e < k * n; e += 256) of_b[e] = b[e];
    __syncthreads();
  }
  const float* from = fits ? of_b : b;
  const int lane = threadIdx.x % 32;
  for (int row = blockIdx.x * 8 + threadIdx.x / 32; row < m; row += 8 * gridDim.x) {
    for (int first = 0; first < n; first += 10) {
      float sums[10] = {};
      for (int i = lane; i < k; i += 32) {
        const float x = a[static_cast<size_t>(row) * k + i];
        for (int s = 0; s < 10; ++s) {
          if (first + s < n) sums[s] += x * from[static_cast<size_t>(i) * n + first + s];
        }
      }
      for (int s = 0; s < 10; ++s) {
        for (int d = 16; d > 0; d /= 2) sums[s] += __shfl_xor_sync(0xFFFFFFFFu, sums[s], d);
        if (lane == s && first + s < n) c[static_cast<size_t>(row) * n + first + s] = sums[s];
      }
    }
  }
}

void launch_matmul_tall_skinny(const float* d_a, const float* d_b, float* d_c, int m, int n,
                               int k) {
  if (m == 0 || n == 0) return;
  const int blocks = m < 8 * 264 ? (m + 7) / 8 : 264;
  matmul_row_per_warp<<<blocks, 256, 32768>>>(d_a, d_b, d_c, m, n, k);
}
