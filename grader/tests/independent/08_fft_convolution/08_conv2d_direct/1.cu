// Design: tile of 32x32 with halo, 4 strided outputs per thread, size of the filter at run time
#include "08_conv2d_direct.h"

namespace {

constexpr int kTileCols = 32, kTileRows = 32;  // outputs of a tile
constexpr int kHeight = 8;                  // threads along a column
constexpr int kEach = kTileRows / kHeight;     // outputs of a thread along a column
constexpr int kThreads = 32 * kHeight;         // of a block

__constant__ float weights[kMaxFilterSide * kMaxFilterSide];

// kR x kS is the size of the filter; 0 x 0: only known at run time, as run_r x run_s.
template <int kR, int kS>
__global__ void __launch_bounds__(kThreads)
    conv2d_direct(const float* __restrict__ x, float* __restrict__ y, int h, int w, int run_r,
                  int run_s) {
  extern __shared__ float tile[];  // [kTileRows + r - 1][kTileCols + s - 1]: outputs and their halo
  const int r = kR > 0 ? kR : run_r, s = kS > 0 ? kS : run_s;
  const int rows = kTileRows + r - 1, cols = kTileCols + s - 1;
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int top = blockIdx.y * kTileRows - (r - 1) / 2, left = blockIdx.x * kTileCols - (s - 1) / 2;
  for (int i = ty; i < rows; i += kHeight) {
    const int row = top + i;
    for (int j = tx; j < cols; j += 32) {
      const int col = left + j;
      const bool inside = row >= 0 && row < h && col >= 0 && col < w;
      tile[i * cols + j] = inside ? x[static_cast<size_t>(row) * w + col] : 0.0f;
    }
  }
  __syncthreads();
  float sums[kEach] = {};
  for (int i = 0; i < r; ++i) {
    for (int j = 0; j < s; ++j) {
      const float weight = weights[i * s + j];
#pragma unroll
      for (int e = 0; e < kEach; ++e) sums[e] += weight * tile[(ty + e * kHeight + i) * cols + tx + j];
    }
  }
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    const int row = blockIdx.y * kTileRows + ty + e * kHeight, col = blockIdx.x * kTileCols + tx;
    if (row < h && col < w) y[static_cast<size_t>(row) * w + col] = sums[e];
  }
}

template <int kR, int kS>
void launch(const float* d_x, float* d_y, int h, int w, int r, int s) {
  const dim3 grid((w + kTileCols - 1) / kTileCols, (h + kTileRows - 1) / kTileRows);
  const int bytes = (kTileRows + r - 1) * (kTileCols + s - 1) * static_cast<int>(sizeof(float));
  conv2d_direct<kR, kS><<<grid, dim3(32, kHeight), bytes>>>(d_x, d_y, h, w, r, s);
}

}  // namespace

void launch_conv2d_direct(const float* d_x, const float* d_f, float* d_y, int h, int w, int r,
                          int s) {
  if (h == 0 || w == 0) return;
  cudaMemcpyToSymbolAsync(weights, d_f, r * s * sizeof(float), 0, cudaMemcpyDeviceToDevice);
  launch<0, 0>(d_x, d_y, h, w, r, s);
}
