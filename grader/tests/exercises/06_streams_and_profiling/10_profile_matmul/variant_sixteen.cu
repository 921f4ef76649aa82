// Accepted: tiles of 16 x 16, b transposed while it is stored.
#include "10_profile_matmul.h"

int hot_line() { return 13; }

__global__ void matmul_nt_sixteen(const float* __restrict__ a, const float* __restrict__ b,
                                  float* __restrict__ c, int m, int n, int k,
                                  int across) {
  __shared__ float rows[16][16], cols[16][17];
  const int x = threadIdx.x, y = threadIdx.y;
  const int tile_row = blockIdx.x / across * 16, tile_col = blockIdx.x % across * 16;
  const int row = tile_row + y, col = tile_col + x, b_row = tile_col + y;
  float sum = 0.0f;
  for (int first = 0; first < k; first += 16) {
    rows[y][x] = row < m && first + x < k ? a[row * k + first + x] : 0.0f;
    cols[x][y] = b_row < n && first + x < k ? b[b_row * k + first + x] : 0.0f;
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum = fmaf(rows[y][i], cols[i][x], sum);
    __syncthreads();
  }
  if (row < m && col < n) c[row * n + col] = sum;
}

void launch_matmul_nt(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  // 2^20 rows have more tiles of 16 than a grid has blocks in y: all of them lie along x.
  const int across = (n + 15) / 16, down = (m + 15) / 16;
  matmul_nt_sixteen<<<across * down, dim3(16, 16)>>>(d_a, d_b, d_c, m, n, k, across);
}
