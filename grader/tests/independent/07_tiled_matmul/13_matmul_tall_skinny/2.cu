// Design: a warp per row, lanes along k, b through the caches, five shuffles per sum
#include "13_matmul_tall_skinny.h"
#include "13_matmul_tall_skinny_support.h"

namespace {

constexpr int kCols = 10, kWarps = 8;

__global__ void __launch_bounds__(32 * kWarps)
    row_per_warp(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                 int m, int n, int k, int groups) {
  const int lane = threadIdx.x % 32;
  const int row = static_cast<int>(blockIdx.x) / groups * kWarps + threadIdx.x / 32;
  const int col = static_cast<int>(blockIdx.x) % groups * kCols;
  if (row >= m) return;  // whole warps
  const float* const from = a + static_cast<size_t>(row) * k;
  const int width = min(kCols, n - col);
  float sums[kCols] = {};
  for (int i = lane; i < k; i += 32) {
    const float x = from[i];
    const float* const row_b = b + static_cast<size_t>(i) * n + col;
#pragma unroll
    for (int j = 0; j < kCols; ++j) {
      if (j < width) sums[j] += x * row_b[j];
    }
  }
#pragma unroll
  for (int j = 0; j < kCols; ++j) {
    for (int step = 16; step > 0; step /= 2) {
      sums[j] += __shfl_xor_sync(0xFFFFFFFFu, sums[j], step);
    }
    if (lane == 0 && j < width) c[static_cast<size_t>(row) * n + col + j] = sums[j];
  }
}

}  // namespace

void launch_matmul_tall_skinny(const float* d_a, const float* d_b, float* d_c, int m, int n,
                               int k) {
  if (m == 0 || n == 0) return;
  const int groups = (n + kCols - 1) / kCols, blocks = (m + kWarps - 1) / kWarps;
  row_per_warp<<<groups * blocks, 32 * kWarps>>>(d_a, d_b, d_c, m, n, k, groups);
}
