// Design: tile of 64x32 with halo, 8 outputs below each other in a register window, sizes 3, 5, 7, 9, 11 compiled
#include "08_conv2d_direct.h"

namespace {

constexpr int kTileCols = 32, kTileRows = 64;  // outputs of a tile
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
  const float* const mine = tile + ty * kEach * cols + tx;
  if constexpr (kR > 0) {
#pragma unroll
    for (int j = 0; j < kS; ++j) {
      float column[kEach + (kR > 0 ? kR : 1) - 1];  // serves all outputs of the thread
#pragma unroll
      for (int i = 0; i < kEach + kR - 1; ++i) column[i] = mine[i * cols + j];
#pragma unroll
      for (int i = 0; i < kR; ++i) {
#pragma unroll
        for (int e = 0; e < kEach; ++e) sums[e] += weights[i * kS + j] * column[e + i];
      }
    }
  } else {
    for (int j = 0; j < s; ++j) {
      float window[kEach];
#pragma unroll
      for (int e = 0; e < kEach - 1; ++e) window[e] = mine[e * cols + j];
      for (int i = 0; i < r; ++i) {
        window[kEach - 1] = mine[(i + kEach - 1) * cols + j];
        const float weight = weights[i * s + j];
#pragma unroll
        for (int e = 0; e < kEach; ++e) sums[e] += weight * window[e];
#pragma unroll
        for (int e = 0; e < kEach - 1; ++e) window[e] = window[e + 1];
      }
    }
  }
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    const int row = blockIdx.y * kTileRows + ty * kEach + e, col = blockIdx.x * kTileCols + tx;
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
  if (r == 3 && s == 3) return launch<3, 3>(d_x, d_y, h, w, r, s);
  if (r == 5 && s == 5) return launch<5, 5>(d_x, d_y, h, w, r, s);
  if (r == 7 && s == 7) return launch<7, 7>(d_x, d_y, h, w, r, s);
  if (r == 9 && s == 9) return launch<9, 9>(d_x, d_y, h, w, r, s);
  if (r == 11 && s == 11) return launch<11, 11>(d_x, d_y, h, w, r, s);
  launch<0, 0>(d_x, d_y, h, w, r, s);
}
