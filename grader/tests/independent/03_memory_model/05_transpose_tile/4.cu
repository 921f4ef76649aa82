// Design: 64x64 tile, 64x8 threads, padded
#include "05_transpose_tile.h"

constexpr int kTile = 64, kHeight = 8;

__global__ void __launch_bounds__(kTile* kHeight)
    transpose_tile(const float* in, float* out, int rows, int cols) {
  __shared__ float tile[kTile][kTile + 1];  // [row of in][column of in]
  const int row0 = blockIdx.y * kTile, col0 = blockIdx.x * kTile;
  float v[kTile / kHeight];
#pragma unroll
  for (int j = 0; j < kTile / kHeight; ++j) {
    const int r = row0 + threadIdx.y + j * kHeight, c = col0 + threadIdx.x;
    v[j] = r < rows && c < cols ? in[static_cast<size_t>(r) * cols + c] : 0.0f;
  }
#pragma unroll
  for (int j = 0; j < kTile / kHeight; ++j) tile[threadIdx.y + j * kHeight][threadIdx.x] = v[j];
  __syncthreads();
#pragma unroll
  for (int j = threadIdx.y; j < kTile; j += kHeight) {
    const int c = col0 + j, r = row0 + threadIdx.x;
    if (r < rows && c < cols) out[static_cast<size_t>(c) * rows + r] = tile[threadIdx.x][j];
  }
}

void launch_transpose_tile(const float* d_in, float* d_out, int rows, int cols) {
  if (rows == 0 || cols == 0) return;
  const dim3 grid((cols + kTile - 1) / kTile, (rows + kTile - 1) / kTile);
  transpose_tile<<<grid, dim3(kTile, kHeight)>>>(d_in, d_out, rows, cols);
}
