// a rectangular tile of 64 x 32 with 256 threads, eight elements each, a turned tile of a, steps of 16, cooperative groups in place of __syncthreads
#include <cooperative_groups.h>

#include "04_matmul_shared.h"

namespace cg = cooperative_groups;

namespace {

constexpr int kRows = 64, kCols = 32, kStep = 16, kThreads = 256;
constexpr int kEach = kRows * kCols / kThreads;  // rows of a thread, kRows / kEach apart

__global__ void __launch_bounds__(kThreads)
    product(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m,
            int n, int k) {
  __shared__ float tile_a[kStep][kRows + 1];
  __shared__ float tile_b[kStep][kCols];
  const cg::thread_block block = cg::this_thread_block();
  const int t = threadIdx.x, x = t % kCols, y = t / kCols;  // a warp: one y
  const int first_row = blockIdx.y * kRows, first_col = blockIdx.x * kCols;
  float sums[kEach] = {};
  for (int first = 0; first < k; first += kStep) {
#pragma unroll
    for (int e = t; e < kRows * kStep; e += kThreads) {
      const int r = e / kStep, i = e % kStep;
      const bool inside = first_row + r < m && first + i < k;
      tile_a[i][r] = inside ? a[static_cast<size_t>(first_row + r) * k + first + i] : 0.0f;
    }
#pragma unroll
    for (int e = t; e < kCols * kStep; e += kThreads) {
      const int i = e / kCols, s = e % kCols;
      const bool inside = first_col + s < n && first + i < k;
      tile_b[i][s] = inside ? b[static_cast<size_t>(first + i) * n + first_col + s] : 0.0f;
    }
    block.sync();
#pragma unroll
    for (int i = 0; i < kStep; ++i) {
      const float from_b = tile_b[i][x];
#pragma unroll
      for (int r = 0; r < kEach; ++r) sums[r] += tile_a[i][y * kEach + r] * from_b;
    }
    block.sync();
  }
#pragma unroll
  for (int r = 0; r < kEach; ++r) {
    const int row = first_row + y * kEach + r, col = first_col + x;
    if (row < m && col < n) c[static_cast<size_t>(row) * n + col] = sums[r];
  }
}

}  // namespace

void launch_matmul_shared(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  if (m <= 0 || n <= 0) return;
  product<<<dim3((n + kCols - 1) / kCols, (m + kRows - 1) / kRows), kThreads>>>(d_a, d_b, d_c, m, n,
                                                                               k);
}
