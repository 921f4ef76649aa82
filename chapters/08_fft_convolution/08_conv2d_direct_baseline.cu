// 08/08 Conv2d, direct: what the exercise is timed against, a thread per output and no sharing.
#include "08_conv2d_direct.h"

namespace {

constexpr int kCols = 32, kRows = 8;  // threads of a block

__global__ void conv2d_naive(const float* x, const float* f, float* y, int h, int w, int r, int s) {
  const int col = blockIdx.x * kCols + threadIdx.x;
  const int row = blockIdx.y * kRows + threadIdx.y;
  if (row >= h || col >= w) return;
  float sum = 0.0f;
  for (int i = 0; i < r; ++i) {
    for (int j = 0; j < s; ++j) {
      const int from_row = row + i - (r - 1) / 2, from_col = col + j - (s - 1) / 2;
      if (from_row >= 0 && from_row < h && from_col >= 0 && from_col < w) {
        sum += f[i * s + j] * x[static_cast<size_t>(from_row) * w + from_col];
      }
    }
  }
  y[static_cast<size_t>(row) * w + col] = sum;
}

}  // namespace

void launch_conv2d_naive(const float* d_x, const float* d_f, float* d_y, int h, int w, int r,
                         int s) {
  const dim3 grid((w + kCols - 1) / kCols, (h + kRows - 1) / kRows);
  conv2d_naive<<<grid, dim3(kCols, kRows)>>>(d_x, d_f, d_y, h, w, r, s);
}
