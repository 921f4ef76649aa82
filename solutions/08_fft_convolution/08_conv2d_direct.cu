// 08/08 Conv2d, direct: an image filtered from a tile with its halo, by weights that all share.
//   x  h x w floats,  f  r x s floats,  y  h x w floats: row-major in device memory
//   y[row][col] = sum of f[i][j] x[row + i - (r - 1) / 2][col + j - (s - 1) / 2], x 0 outside
//   A block makes a tile of 64 x 32 outputs, a thread eight of one column: outputs that lie below
//   each other need nearly the same column of x. Where the size of the filter is known to the
//   compiler, it keeps that window in registers: one word from shared memory serves up to eight
//   sums.
//   TODOs  3
#include "08_conv2d_direct.h"

namespace {

constexpr int kTileCols = 32;                  // outputs of a tile, and threads, along a row
constexpr int kHeight = 8;                     // threads along a column
constexpr int kEach = 8;                       // outputs of a thread, below each other
constexpr int kTileRows = kHeight * kEach;     // outputs of a tile along a column
constexpr int kThreads = kTileCols * kHeight;  // of a block

// The filter, row-major. All lanes of a warp want the same weight at the same time: one word serves
// the warp, and an unrolled loop takes it from there as an operand, without a load.
__constant__ float weights[kMaxFilterSide * kMaxFilterSide];

// kR x kS is the size of the filter; 0 x 0: only known at run time, as run_r x run_s.
template <int kR, int kS>
__global__ void __launch_bounds__(kThreads)
    conv2d_direct(const float* x, float* y, int h, int w, int run_r, int run_s) {
  extern __shared__ float tile[];  // [kTileRows + r - 1][kTileCols + s - 1]: outputs and their halo
  const int r = kR > 0 ? kR : run_r, s = kS > 0 ? kS : run_s;
  const int rows = kTileRows + r - 1, cols = kTileCols + s - 1;
  const int tx = threadIdx.x, ty = threadIdx.y;
  //~ // TODO(1): The tile holds the pixels that the outputs of this block need, zeros where they lie
  //~ // outside the image; each is loaded once, by lanes in the order of the columns (about 9 lines).
  //~ for (int i = ty; i < rows; i += kHeight) {
  //~   for (int j = tx; j < cols; j += kTileCols) tile[i * cols + j] = 0.0f * h * w * x[0];
  //~ }
  //~begin 1
  const int first_row = blockIdx.y * kTileRows - (r - 1) / 2;
  const int first_col = blockIdx.x * kTileCols - (s - 1) / 2;
  for (int i = ty; i < rows; i += kHeight) {
    for (int j = tx; j < cols; j += kTileCols) {
      const int row = first_row + i, col = first_col + j;
      const bool inside = row >= 0 && row < h && col >= 0 && col < w;
      tile[i * cols + j] = inside ? x[static_cast<size_t>(row) * w + col] : 0.0f;
    }
  }
  //~end
  //~ // TODO(2): y has the outputs of this tile, those that lie on the image: kEach of one column in
  //~ // each thread, from words of the tile that serve several sums (about 18 lines).
  //~ const int row = blockIdx.y * kTileRows + ty, col = blockIdx.x * kTileCols + tx;
  //~ if (row < h && col < w) y[row * w + col] = weights[0] * tile[ty * cols + tx];
  //~begin 2
  __syncthreads();  // closes write against read: other threads have loaded most of what is read
  float sums[kEach] = {};  // [o]: row kEach * ty + o of the tile
  const float* window = tile + kEach * ty * cols + tx;
  // Columns of the filter outside: the words of one column of the window are used again and again.
#pragma unroll(kS > 0 ? kS : 1)
  for (int j = 0; j < s; ++j) {
#pragma unroll(kR > 0 ? kR : 1)
    for (int i = 0; i < r; ++i) {
      const float weight = weights[i * s + j];
      for (int o = 0; o < kEach; ++o) sums[o] += weight * window[(i + o) * cols + j];
    }
  }
  const int col = blockIdx.x * kTileCols + tx;
  for (int o = 0; o < kEach; ++o) {
    const int row = blockIdx.y * kTileRows + kEach * ty + o;
    if (row < h && col < w) {
      y[static_cast<size_t>(row) * w + col] = sums[o];
    }
  }
  //~end
}

template <int kR, int kS>
void launch(const float* d_x, float* d_y, int h, int w, int r, int s) {
  //~ const int bytes = (kTileRows + r - 1) * (kTileCols + s - 1) * static_cast<int>(sizeof(float));
  //~ conv2d_direct<kR, kS><<<1, dim3(kTileCols, kHeight), bytes>>>(d_x, d_y, h, w, r, s);
  //~begin 3
  const dim3 grid((w + kTileCols - 1) / kTileCols, (h + kTileRows - 1) / kTileRows);
  const int bytes = (kTileRows + r - 1) * (kTileCols + s - 1) * static_cast<int>(sizeof(float));
  conv2d_direct<kR, kS><<<grid, dim3(kTileCols, kHeight), bytes>>>(d_x, d_y, h, w, r, s);
  //~end
}

}  // namespace

void launch_conv2d_direct(const float* d_x, const float* d_f, float* d_y, int h, int w, int r,
                          int s) {
  if (h == 0 || w == 0) return;
  //~ // TODO(3): The kernel finds this call's filter in the symbol; the host waits for nothing and
  //~ // sees none of it. Then the launch, compiled for the usual sizes (about 10 lines, and 3 above).
  //~ launch<0, 0>(d_x, d_y, h, w, r, s);
  //~begin 3
  cudaMemcpyToSymbolAsync(weights, d_f, r * s * sizeof(float), 0, cudaMemcpyDeviceToDevice);
  // The usual sizes are compiled each for itself, all others share the last kernel.
  if (r == 3 && s == 3) {
    launch<3, 3>(d_x, d_y, h, w, r, s);
  } else if (r == 5 && s == 5) {
    launch<5, 5>(d_x, d_y, h, w, r, s);
  } else if (r == 7 && s == 7) {
    launch<7, 7>(d_x, d_y, h, w, r, s);
  } else {
    launch<0, 0>(d_x, d_y, h, w, r, s);
  }
  //~end
}
