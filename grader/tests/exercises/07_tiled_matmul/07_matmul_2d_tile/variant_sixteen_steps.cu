// Accepted: 16 steps of k from barrier to barrier, the tile of a transposed, a thread has
// neighbouring rows.
#include "07_matmul_2d_tile.h"

__global__ void __launch_bounds__(256)
    matmul_sixteen_steps(const float* __restrict__ a, const float* __restrict__ b,
                         float* __restrict__ c, int m, int n, int k) {
  __shared__ float tile_a[16][128 + 1], tile_b[16][128];  // a transposed
  const int t = threadIdx.x, x = t % 16, y = t / 16;
  const int top = blockIdx.y * 128, left = blockIdx.x * 128;
  float sums[8][8] = {};
  for (int first = 0; first < k; first += 16) {
#pragma unroll
    for (int e = t; e < 16 * 128; e += 256) {
      const int row = top + e / 16, col = left + e % 128;
      const int i = first + e % 16, j = first + e / 128;
      tile_a[e % 16][e / 16] = row < m && i < k ? a[row * k + i] : 0.0f;
      tile_b[e / 128][e % 128] = j < k && col < n ? b[j * n + col] : 0.0f;
    }
    __syncthreads();
    for (int i = 0; i < 16; ++i) {
      float u[8], v[8];
#pragma unroll
      for (int r = 0; r < 8; ++r) u[r] = tile_a[i][8 * y + r], v[r] = tile_b[i][x + 16 * r];
#pragma unroll
      for (int r = 0; r < 8; ++r) {
#pragma unroll
        for (int s = 0; s < 8; ++s) sums[r][s] = fmaf(u[r], v[s], sums[r][s]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < 8; ++r) {
#pragma unroll
    for (int s = 0; s < 8; ++s) {
      const int row = top + 8 * y + r, col = left + x + 16 * s;
      if (row < m && col < n) c[row * n + col] = sums[r][s];
    }
  }
}

void launch_matmul_2d_tile(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  const dim3 grid((n + 127) / 128, (m + 127) / 128);
  if (m > 0 && n > 0) matmul_sixteen_steps<<<grid, 256>>>(d_a, d_b, d_c, m, n, k);
}
