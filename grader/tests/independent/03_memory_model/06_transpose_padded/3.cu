// Design: 64x64 tile, pitch 64, columns swizzled
#include "06_transpose_padded.h"

constexpr int kTile = 64, kWidth = 32, kHeight = 16;
constexpr int kDown = kTile / kHeight, kAcross = kTile / kWidth;
constexpr int kPitch = 64;

int column_wavefronts(int pitch) {
  int words[32] = {}, most = 0;
  for (int lane = 0; lane < 32; ++lane) {
    const int count = ++words[static_cast<long long>(lane) * pitch % 32];
    if (count > most) most = count;
  }
  return most;
}

__global__ void __launch_bounds__(kWidth* kHeight)
    transpose_padded(const float* in, float* out, int rows, int cols) {
  __shared__ float tile[kTile][kPitch];  // [row of in][column of in]
  const int row0 = blockIdx.x * kTile, col0 = blockIdx.y * kTile;
  float x[kDown][kAcross];
#pragma unroll
  for (int j = 0; j < kDown; ++j) {
#pragma unroll
    for (int i = 0; i < kAcross; ++i) {
      const int r = row0 + threadIdx.y + j * kHeight, c = col0 + threadIdx.x + i * kWidth;
      x[j][i] = r < rows && c < cols ? in[static_cast<size_t>(r) * cols + c] : 0.0f;
    }
  }
#pragma unroll
  for (int j = 0; j < kDown; ++j) {
#pragma unroll
    for (int i = 0; i < kAcross; ++i) {
      const int r = threadIdx.y + j * kHeight, c = threadIdx.x + i * kWidth;
      tile[r][c ^ (r % 32)] = x[j][i];
    }
  }
  __syncthreads();
#pragma unroll
  for (int j = 0; j < kDown; ++j) {
#pragma unroll
    for (int i = 0; i < kAcross; ++i) {
      const int r = threadIdx.x + i * kWidth, c = threadIdx.y + j * kHeight;
      if (row0 + r < rows && col0 + c < cols) {
        out[static_cast<size_t>(col0 + c) * rows + row0 + r] = tile[r][c ^ (r % 32)];
      }
    }
  }
}

void launch_transpose_padded(const float* d_in, float* d_out, int rows, int cols) {
  const dim3 grid((rows + kTile - 1) / kTile, (cols + kTile - 1) / kTile);
  if (grid.x > 0 && grid.y > 0) {
    transpose_padded<<<grid, dim3(kWidth, kHeight)>>>(d_in, d_out, rows, cols);
  }
}
