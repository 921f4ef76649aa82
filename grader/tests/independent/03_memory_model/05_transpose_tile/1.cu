// 64 x 64 tiles through shared memory read by float columns, 1-D grid
#include "05_transpose_tile.h"
constexpr int kTile = 32;
constexpr int kHeight = 16;
__global__ void transpose_tile(const float* in, float* out, int rows, int cols) {
  __shared__ float tile[kTile][kTile + 1];
  const unsigned tr = (rows + kTile - 1) / kTile;
  const int r0 = blockIdx.x % tr * kTile, c0 = blockIdx.x / tr * kTile;
  for (int j = threadIdx.y; j < kTile; j += kHeight)
    if (r0 + j < rows && c0 + threadIdx.x < cols) tile[j][threadIdx.x] = in[(size_t)(r0 + j) * cols + c0 + threadIdx.x];
  __syncthreads();
  for (int j = threadIdx.y; j < kTile; j += kHeight)
    if (c0 + j < cols && r0 + threadIdx.x < rows) out[(size_t)(c0 + j) * rows + r0 + threadIdx.x] = tile[threadIdx.x][j];
}
void launch_transpose_tile(const float* d_in, float* d_out, int rows, int cols) {
  if (rows > 0 && cols > 0) transpose_tile<<<(unsigned)((rows + kTile - 1) / kTile) * ((cols + kTile - 1) / kTile), dim3(kTile, kHeight)>>>(d_in, d_out, rows, cols);
}
