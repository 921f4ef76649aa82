// no constant memory: weights in shared memory as well, a thread makes four rows of four columns 16 apart, 64 x 64 tiles, a window that moves down in registers for any filter
#include "08_conv2d_direct.h"

namespace {

constexpr int kLanes = 16, kRowsOfThreads = 16, kWide = 4, kHigh = 4;
constexpr int kTileCols = kLanes * kWide, kTileRows = kRowsOfThreads * kHigh;
constexpr int kThreads = kLanes * kRowsOfThreads;

// kSide > 0: the filter is kSide x kSide.
template <int kSide>
__global__ void __launch_bounds__(kThreads)
    filter_tile(const float* __restrict__ x, const float* __restrict__ f, float* __restrict__ y,
                int h, int w, int run_r, int run_s, int pitch) {
  extern __shared__ float shared[];
  constexpr int kUnroll = kSide > 0 ? kSide : 1;
  const int r = kSide > 0 ? kSide : run_r, s = kSide > 0 ? kSide : run_s;
  float* const weights = shared;  // r x s
  float* const tile = shared + kMaxFilterSide * kMaxFilterSide;
  const int t = threadIdx.x, tx = t % kLanes, ty = t / kLanes;
  const int rows = kTileRows + r - 1, cols = kTileCols + s - 1;
  const long long top = static_cast<long long>(blockIdx.y) * kTileRows - (r - 1) / 2;
  const long long left = static_cast<long long>(blockIdx.x) * kTileCols - (s - 1) / 2;
  for (int e = t; e < r * s; e += kThreads) weights[e] = f[e];
  for (int i = t / 32; i < rows; i += kThreads / 32) {
    const long long row = top + i;
    for (int j = t % 32; j < cols; j += 32) {
      const long long col = left + j;
      const bool inside = row >= 0 && row < h && col >= 0 && col < w;
      tile[i * pitch + j] = inside ? x[row * w + col] : 0.0f;
    }
  }
  __syncthreads();
  float sums[kHigh][kWide] = {};  // rows ty * kHigh + .., columns tx + kLanes * ..
#pragma unroll kUnroll
  for (int j = 0; j < s; ++j) {
    const float* column = tile + ty * kHigh * pitch + tx + j;
    float window[kHigh][kWide];
#pragma unroll
    for (int e = 0; e < kHigh - 1; ++e) {
#pragma unroll
      for (int g = 0; g < kWide; ++g) window[e][g] = column[e * pitch + kLanes * g];
    }
#pragma unroll kUnroll
    for (int i = 0; i < r; ++i) {
#pragma unroll
      for (int g = 0; g < kWide; ++g) window[kHigh - 1][g] = column[(i + kHigh - 1) * pitch + kLanes * g];
      const float weight = weights[i * s + j];
#pragma unroll
      for (int e = 0; e < kHigh; ++e) {
#pragma unroll
        for (int g = 0; g < kWide; ++g) sums[e][g] = fmaf(weight, window[e][g], sums[e][g]);
      }
#pragma unroll
      for (int e = 0; e < kHigh - 1; ++e) {
#pragma unroll
        for (int g = 0; g < kWide; ++g) window[e][g] = window[e + 1][g];
      }
    }
  }
#pragma unroll
  for (int e = 0; e < kHigh; ++e) {
    const long long row = static_cast<long long>(blockIdx.y) * kTileRows + ty * kHigh + e;
#pragma unroll
    for (int g = 0; g < kWide; ++g) {
      const long long col = static_cast<long long>(blockIdx.x) * kTileCols + tx + kLanes * g;
      if (row < h && col < w) y[row * w + col] = sums[e][g];
    }
  }
}

template <int kSide>
void launch(const float* d_x, const float* d_f, float* d_y, int h, int w, int r, int s) {
  // Two rows of lanes of a warp read 4 pitches apart: 16 banks if the pitch is 4 mod 8.
  const int pitch = (kTileCols + s - 1 + 7) / 8 * 8 + 4;
  const int bytes = (kMaxFilterSide * kMaxFilterSide + (kTileRows + r - 1) * pitch) * 4;
  const dim3 grid((w + kTileCols - 1) / kTileCols, (h + kTileRows - 1) / kTileRows);
  filter_tile<kSide><<<grid, kThreads, bytes>>>(d_x, d_f, d_y, h, w, r, s, pitch);
}

}  // namespace

void launch_conv2d_direct(const float* d_x, const float* d_f, float* d_y, int h, int w, int r,
                          int s) {
  if (h == 0 || w == 0) return;
  const int side = r == s ? r : 0;
  switch (side) {
    case 3: return launch<3>(d_x, d_f, d_y, h, w, r, s);
    case 5: return launch<5>(d_x, d_f, d_y, h, w, r, s);
    case 7: return launch<7>(d_x, d_f, d_y, h, w, r, s);
    default: return launch<0>(d_x, d_f, d_y, h, w, r, s);
  }
}
