// Design: 32x32 threads, one element per thread, lanes along a row, not unrolled
#include "03_matmul_coalesced.h"

namespace {

constexpr int kBlockX = 32, kBlockY = 32;  // threads of a block
constexpr int kRows = 1, kCols = 1;      // elements of c per thread
constexpr int kTileRows = kBlockY * kRows, kTileCols = kBlockX * kCols;
static_assert(kTileRows >= 32, "the grid reaches 2^20 rows");

__global__ void __launch_bounds__(kBlockX* kBlockY)
    matmul_coalesced_kernel(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m,
             int n, int k) {
  const int row0 = blockIdx.y * kTileRows + threadIdx.y;
  const int col0 = blockIdx.x * kTileCols + threadIdx.x;
  // Rows and columns past the end read the last one instead, and are not written.
  const float* from_a[kRows];
  int from_b[kCols];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    from_a[r] = a + static_cast<size_t>(min(row0 + r * kBlockY, m - 1)) * k;
  }
#pragma unroll
  for (int s = 0; s < kCols; ++s) from_b[s] = min(col0 + s * kBlockX, n - 1);
  float sums[kRows][kCols] = {};
  const float* row_b = b;
#pragma unroll 1
  for (int i = 0; i < k; ++i) {
    float x[kRows], y[kCols];
#pragma unroll
    for (int r = 0; r < kRows; ++r) x[r] = from_a[r][i];
#pragma unroll
    for (int s = 0; s < kCols; ++s) y[s] = row_b[from_b[s]];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int s = 0; s < kCols; ++s) sums[r][s] += x[r] * y[s];
    }
    row_b += n;
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
#pragma unroll
    for (int s = 0; s < kCols; ++s) {
      const int row = row0 + r * kBlockY, col = col0 + s * kBlockX;
      if (row < m && col < n) c[static_cast<size_t>(row) * n + col] = sums[r][s];
    }
  }
}

}  // namespace

void launch_matmul_coalesced(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  const dim3 grid((n + kTileCols - 1) / kTileCols, (m + kTileRows - 1) / kTileRows);
  if (grid.x == 0 || grid.y == 0) return;
  matmul_coalesced_kernel<<<grid, dim3(kBlockX, kBlockY)>>>(d_a, d_b, d_c, m, n, k);
}
