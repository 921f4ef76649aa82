// a thread has 4 x 4 elements in place of eight of a column, 64 x 64 tiles, 256 threads, steps of 16
#include "06_matmul_1d_tile.h"

namespace {

constexpr int kTile = 64, kStep = 16, kSide = 16, kEach = 4;

__global__ void __launch_bounds__(kSide * kSide)
    product(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m,
            int n, int k) {
  __shared__ float of_a[kStep][kTile + 1], of_b[kStep][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y, t = ty * kSide + tx;
  const size_t top = static_cast<size_t>(blockIdx.y) * kTile, left = static_cast<size_t>(blockIdx.x) * kTile;
  float sums[kEach][kEach] = {};
  for (int first = 0; first < k; first += kStep) {
#pragma unroll
    for (int j = 0; j < kTile * kStep / 256; ++j) {
      const int r = t / kStep + j * 16, i = t % kStep;
      of_a[i][r] = top + r < m && first + i < k ? a[(top + r) * k + first + i] : 0.0f;
      const int s = t % kTile, h = t / kTile + j * 4;
      of_b[h][s] = left + s < n && first + h < k ? b[static_cast<size_t>(first + h) * n + left + s] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kStep; ++i) {
      float x[kEach], y[kEach];
#pragma unroll
      for (int r = 0; r < kEach; ++r) x[r] = of_a[i][ty + kSide * r], y[r] = of_b[i][tx + kSide * r];
#pragma unroll
      for (int r = 0; r < kEach; ++r) {
#pragma unroll
        for (int s = 0; s < kEach; ++s) sums[r][s] = fmaf(x[r], y[s], sums[r][s]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < kEach; ++r) {
#pragma unroll
    for (int s = 0; s < kEach; ++s) {
      const size_t row = top + ty + kSide * r, col = left + tx + kSide * s;
      if (row < m && col < n) c[row * n + col] = sums[r][s];
    }
  }
}

}  // namespace

void launch_matmul_1d_tile(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  if (m == 0 || n == 0) return;
  product<<<dim3((n + kTile - 1) / kTile, (m + kTile - 1) / kTile), dim3(kSide, kSide)>>>(d_a, d_b, d_c, m, n, k);
}
