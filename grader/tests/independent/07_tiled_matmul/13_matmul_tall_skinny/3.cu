// Design: 128 rows x 32 of k staged in padded shared memory, a thread per row, no prefetch
#include "13_matmul_tall_skinny.h"
#include "13_matmul_tall_skinny_support.h"

namespace {

constexpr int kCols = 10, kThreads = 128, kStep = 32;

__global__ void __launch_bounds__(kThreads)
    staged_rows(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                int m, int n, int k, int groups) {
  __shared__ float tile_a[kThreads][kStep + 1];
  __shared__ float tile_b[kStep][kCols];
  const int t = threadIdx.x;
  const int first_row = static_cast<int>(blockIdx.x) / groups * kThreads;
  const int col = static_cast<int>(blockIdx.x) % groups * kCols;
  float sums[kCols] = {};
  for (int first = 0; first < k; first += kStep) {
#pragma unroll 8
    for (int e = t; e < kThreads * kStep; e += kThreads) {
      const int r = e / kStep, i = e % kStep;
      const bool inside = first_row + r < m && first + i < k;
      tile_a[r][i] = inside ? a[static_cast<size_t>(first_row + r) * k + first + i] : 0.0f;
    }
    for (int e = t; e < kStep * kCols; e += kThreads) {
      const int i = first + e / kCols, j = col + e % kCols;
      tile_b[e / kCols][e % kCols] = i < k && j < n ? b[static_cast<size_t>(i) * n + j] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kStep; ++i) {
      const float x = tile_a[t][i];
#pragma unroll
      for (int j = 0; j < kCols; ++j) sums[j] += x * tile_b[i][j];
    }
    __syncthreads();
  }
  const int row = first_row + t;
  if (row >= m) return;
#pragma unroll
  for (int j = 0; j < kCols; ++j) {
    if (col + j < n) c[static_cast<size_t>(row) * n + col + j] = sums[j];
  }
}

}  // namespace

void launch_matmul_tall_skinny(const float* d_a, const float* d_b, float* d_c, int m, int n,
                               int k) {
  if (m == 0 || n == 0) return;
  const int groups = (n + kCols - 1) / kCols, blocks = (m + kThreads - 1) / kThreads;
  staged_rows<<<groups * blocks, kThreads>>>(d_a, d_b, d_c, m, n, k, groups);
}
