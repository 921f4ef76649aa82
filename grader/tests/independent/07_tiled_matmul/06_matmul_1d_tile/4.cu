// Design: 64x64 tile, step 16, 8 rows per thread, a transposed (store conflicts), register prefetch
#include "06_matmul_1d_tile.h"

namespace {

constexpr int kTileRows = 64, kTileCols = 64, kStep = 16;
constexpr int kRows = 8, kCols = 1;  // elements of c per thread
constexpr int kLanesX = kTileCols / kCols, kLanesY = kTileRows / kRows;
constexpr int kThreads = kLanesX * kLanesY;

__global__ void __launch_bounds__(kThreads)
    matmul_1d_tile_kernel(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m,
             int n, int k) {
  __shared__ float tile_a[kStep][kTileRows + 0];  // [step of k][row of c]
  __shared__ float tile_b[kStep][kTileCols + 0];  // [step of k][column of c]
  const int t = threadIdx.x, tx = t % kLanesX, ty = t / kLanesX;
  const int first_row = blockIdx.y * kTileRows, first_col = blockIdx.x * kTileCols;
  float sums[kRows][kCols] = {};
  constexpr int kLoadsA = kTileRows * kStep / kThreads, kLoadsB = kTileCols * kStep / kThreads;
  float held_a[kLoadsA], held_b[kLoadsB];  // of the next step, on their way
  const auto begin = [&](int first) {
#pragma unroll
    for (int j = 0; j < kLoadsA; ++j) {
      const int e = t + j * kThreads, r = e / kStep, i = e % kStep;
      const bool inside = first_row + r < m && first + i < k;
      held_a[j] = inside ? a[static_cast<size_t>(first_row + r) * k + first + i] : 0.0f;
    }
#pragma unroll
    for (int j = 0; j < kLoadsB; ++j) {
      const int e = t + j * kThreads, i = e / kTileCols, s = e % kTileCols;
      const bool inside = first + i < k && first_col + s < n;
      held_b[j] = inside ? b[static_cast<size_t>(first + i) * n + first_col + s] : 0.0f;
    }
  };
  begin(0);
  for (int first = 0; first < k; first += kStep) {
#pragma unroll
    for (int j = 0; j < kLoadsA; ++j) {
      const int e = t + j * kThreads;
      tile_a[e % kStep][e / kStep] = held_a[j];
    }
#pragma unroll
    for (int j = 0; j < kLoadsB; ++j) {
      const int e = t + j * kThreads;
      tile_b[e / kTileCols][e % kTileCols] = held_b[j];
    }
    __syncthreads();
    if (first + kStep < k) begin(first + kStep);
#pragma unroll
    for (int i = 0; i < kStep; ++i) {
      float x[kRows], y[kCols];
#pragma unroll
      for (int r = 0; r < kRows; ++r) x[r] = tile_a[i][ty * kRows + r];
#pragma unroll
      for (int s = 0; s < kCols; ++s) y[s] = tile_b[i][tx + kLanesX * s];
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
#pragma unroll
        for (int s = 0; s < kCols; ++s) sums[r][s] += x[r] * y[s];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
#pragma unroll
    for (int s = 0; s < kCols; ++s) {
      const int row = first_row + ty * kRows + r, col = first_col + tx + kLanesX * s;
      if (row < m && col < n) c[static_cast<size_t>(row) * n + col] = sums[r][s];
    }
  }
}

}  // namespace

void launch_matmul_1d_tile(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  const dim3 grid((n + kTileCols - 1) / kTileCols, (m + kTileRows - 1) / kTileRows);
  if (grid.x == 0 || grid.y == 0) return;
  matmul_1d_tile_kernel<<<grid, kThreads>>>(d_a, d_b, d_c, m, n, k);
}
