// Accepted: tiles of 128 x 64 by 128 threads; the next step is on its way to registers.
#include "07_matmul_2d_tile.h"

__global__ void __launch_bounds__(128)
    matmul_ahead(const float* __restrict__ a, const float* __restrict__ b, float* c, int m, int n,
                 int k) {
  __shared__ float as[8][128 + 4];
  __shared__ float bs[8][64];
  const int t = threadIdx.x, tx = t % 8, ty = t / 8;  // 8 x 16 threads
  const int row0 = blockIdx.y * 128, col0 = blockIdx.x * 64;
  float acc[8][8] = {};
  float ra[8], rb[4];
  auto fetch = [&](int base) {
#pragma unroll
    for (int l = 0; l < 8; ++l) {
      const int e = t + 128 * l, r = row0 + e / 8, i = base + e % 8;
      ra[l] = r < m && i < k ? a[(size_t)r * k + i] : 0.0f;
    }
#pragma unroll
    for (int l = 0; l < 4; ++l) {
      const int e = t + 128 * l, i = base + e / 64, s = col0 + e % 64;
      rb[l] = i < k && s < n ? b[(size_t)i * n + s] : 0.0f;
    }
  };
  fetch(0);
  for (int base = 0; base < k; base += 8) {
    __syncthreads();
#pragma unroll
    for (int l = 0; l < 8; ++l) as[(t + 128 * l) % 8][(t + 128 * l) / 8] = ra[l];
#pragma unroll
    for (int l = 0; l < 4; ++l) bs[(t + 128 * l) / 64][(t + 128 * l) % 64] = rb[l];
    __syncthreads();
    fetch(base + 8);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      float u[8], v[8];
#pragma unroll
      for (int p = 0; p < 8; ++p) u[p] = as[i][ty * 8 + p];
#pragma unroll
      for (int q = 0; q < 8; ++q) v[q] = bs[i][tx + 8 * q];
#pragma unroll
      for (int p = 0; p < 8; ++p)
#pragma unroll
        for (int q = 0; q < 8; ++q) acc[p][q] += u[p] * v[q];
    }
  }
  for (int p = 0; p < 8; ++p)
    for (int q = 0; q < 8; ++q) {
      const int row = row0 + ty * 8 + p, col = col0 + tx + 8 * q;
      if (row < m && col < n) c[(size_t)row * n + col] = acc[p][q];
    }
}

void launch_matmul_2d_tile(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  if (m == 0 || n == 0) return;
  matmul_ahead<<<dim3((n + 63) / 64, (m + 127) / 128), 128>>>(d_a, d_b, d_c, m, n, k);
}
