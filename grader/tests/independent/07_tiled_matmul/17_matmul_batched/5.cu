// Design: 64x64 tile, step 16, 8x4 per thread, 128 threads, a transposed, register prefetch
#include <algorithm>

#include "17_matmul_batched.h"

namespace {

constexpr int kTileRows = 64, kTileCols = 64, kStep = 16;
constexpr int kRows = 8, kCols = 4;  // elements of c per thread
constexpr int kLanesX = kTileCols / kCols, kLanesY = kTileRows / kRows;
constexpr int kThreads = kLanesX * kLanesY;

__global__ void __launch_bounds__(kThreads)
    matmul_batched(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m,
                   int n, int k, int batch, long long stride_a, long long stride_b,
                   long long stride_c) {
  __shared__ float tile_a[kStep][kTileRows + 1];  // [step of k][row of c]
  __shared__ float tile_b[kStep][kTileCols];  // [step of k][column of c]
  const int t = threadIdx.x, tx = t % kLanesX, ty = t / kLanesX;
  const int across = (n + kTileCols - 1) / kTileCols;  // tiles side by side
  const int first_row = static_cast<int>(blockIdx.x) / across * kTileRows;
  const int first_col = static_cast<int>(blockIdx.x) % across * kTileCols;
  for (int z = blockIdx.z; z < batch; z += gridDim.z) {
    const float* const from_a = a + z * stride_a;
    const float* const from_b = b + z * stride_b;
    float* const to = c + z * stride_c;
    float sums[kRows][kCols] = {};
    constexpr int kLoadsA = kTileRows * kStep / kThreads, kLoadsB = kTileCols * kStep / kThreads;
    float held_a[kLoadsA], held_b[kLoadsB];
    const auto begin = [&](int first) {
#pragma unroll
      for (int j = 0; j < kLoadsA; ++j) {
        const int e = t + j * kThreads, row = first_row + e / kStep, i = first + e % kStep;
        held_a[j] = row < m && i < k ? from_a[static_cast<size_t>(row) * k + i] : 0.0f;
      }
#pragma unroll
      for (int j = 0; j < kLoadsB; ++j) {
        const int e = t + j * kThreads, i = first + e / kTileCols, col = first_col + e % kTileCols;
        held_b[j] = i < k && col < n ? from_b[static_cast<size_t>(i) * n + col] : 0.0f;
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
        for (int r = 0; r < kRows; ++r) x[r] = tile_a[i][ty + kLanesY * r];
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
        const int row = first_row + ty + kLanesY * r, col = first_col + tx + kLanesX * s;
        if (row < m && col < n) to[static_cast<size_t>(row) * n + col] = sums[r][s];
      }
    }
  }
}

}  // namespace

void launch_matmul_batched(const float* d_a, const float* d_b, float* d_c, int m, int n, int k,
                           int batch, long long stride_a, long long stride_b, long long stride_c,
                           int most_planes) {
  if (m == 0 || n == 0 || batch == 0) return;
  const int tiles = ((m + kTileRows - 1) / kTileRows) * ((n + kTileCols - 1) / kTileCols);
  const dim3 grid(tiles, 1, std::min(batch, most_planes));
  matmul_batched<<<grid, kThreads>>>(d_a, d_b, d_c, m, n, k, batch, stride_a, stride_b, stride_c);
}
