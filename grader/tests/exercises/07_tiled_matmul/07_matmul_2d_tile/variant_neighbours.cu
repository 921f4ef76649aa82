// Accepted: tiles of 128 x 128, eight by eight neighbouring elements per thread, steps of 8.
#include "07_matmul_2d_tile.h"

constexpr int BM = 128, BN = 128, BK = 8, TM = 8, TN = 8;

__global__ void matmul_neighbours(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float as[BM * BK];
  __shared__ float bs[BK * BN];
  const int thread_col = threadIdx.x % (BN / TN), thread_row = threadIdx.x / (BN / TN);
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  float acc[TM * TN] = {0.0f};
  float reg_m[TM], reg_n[TN];
  for (int base = 0; base < k; base += BK) {
    for (int e = threadIdx.x; e < BM * BK; e += 256) {
      const int r = row0 + e / BK, i = base + e % BK;
      as[e] = (r < m && i < k) ? a[(size_t)r * k + i] : 0.0f;
    }
    for (int e = threadIdx.x; e < BK * BN; e += 256) {
      const int i = base + e / BN, s = col0 + e % BN;
      bs[e] = (i < k && s < n) ? b[(size_t)i * n + s] : 0.0f;
    }
    __syncthreads();
    for (int i = 0; i < BK; ++i) {
      for (int p = 0; p < TM; ++p) reg_m[p] = as[(thread_row * TM + p) * BK + i];
      for (int q = 0; q < TN; ++q) reg_n[q] = bs[i * BN + thread_col * TN + q];
      for (int p = 0; p < TM; ++p)
        for (int q = 0; q < TN; ++q) acc[p * TN + q] += reg_m[p] * reg_n[q];
    }
    __syncthreads();
  }
  for (int p = 0; p < TM; ++p)
    for (int q = 0; q < TN; ++q) {
      const int row = row0 + thread_row * TM + p, col = col0 + thread_col * TN + q;
      if (row < m && col < n) c[(size_t)row * n + col] = acc[p * TN + q];
    }
}

void launch_matmul_2d_tile(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  if (m == 0 || n == 0) return;
  matmul_neighbours<<<dim3((n + BN - 1) / BN, (m + BM - 1) / BM), 256>>>(d_a, d_b, d_c, m, n, k);
}
