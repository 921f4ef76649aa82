// Design: 32x32 tile, 32x8 threads, no padding (32-way conflicts)
#include "05_transpose_tile.h"

constexpr int kTile = 32, kHeight = 8;

__global__ void __launch_bounds__(kTile* kHeight)
    transpose_tile(const float* in, float* out, int rows, int cols) {
  __shared__ float tile[kTile][kTile + 0];  // [row of in][column of in]
  const int row0 = blockIdx.y * kTile, col0 = blockIdx.x * kTile;
  for (int j = threadIdx.y; j < kTile; j += kHeight) {
    const int r = row0 + j, c = col0 + threadIdx.x;
    if (r < rows && c < cols) tile[j][threadIdx.x] = in[static_cast<size_t>(r) * cols + c];
  }
  __syncthreads();
#pragma unroll 1
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
