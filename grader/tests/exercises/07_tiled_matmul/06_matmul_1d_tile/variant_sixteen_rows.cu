// Accepted: sixteen rows per thread in a tile of 128 x 64, 8 steps of k, rows that lie apart.
#include "06_matmul_1d_tile.h"

__global__ void __launch_bounds__(512)
    matmul_sixteen_rows(const float* __restrict__ a, const float* __restrict__ b,
                        float* __restrict__ c, int m, int n, int k) {
  __shared__ float of_a[128][8], of_b[8][64];
  const int x = threadIdx.x, y = threadIdx.y, t = 64 * y + x;
  const int top = blockIdx.y * 128, left = blockIdx.x * 64;
  float sums[16] = {};
  for (int first = 0; first < k; first += 8) {
    for (int e = t; e < 1024; e += 512) {
      const int row = top + e / 8, i = first + e % 8;
      of_a[e / 8][e % 8] = row < m && i < k ? a[row * k + i] : 0.0f;
    }
    of_b[y][x] = first + y < k && left + x < n ? b[(first + y) * n + left + x] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float from_b = of_b[i][x];
#pragma unroll
      for (int r = 0; r < 16; ++r) sums[r] = fmaf(of_a[y + 8 * r][i], from_b, sums[r]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < 16; ++r) {
    const int row = top + y + 8 * r;
    if (row < m && left + x < n) c[row * n + left + x] = sums[r];
  }
}

void launch_matmul_1d_tile(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  const dim3 grid((n + 63) / 64, (m + 127) / 128);
  if (m > 0 && n > 0) matmul_sixteen_rows<<<grid, dim3(64, 8)>>>(d_a, d_b, d_c, m, n, k);
}
