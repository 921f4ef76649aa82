// Another right answer: 16 x 16 threads and tiles, one element per thread, the tile held turned.
#include "05_transpose_tile.h"

__global__ void transpose_square(const float* in, float* out, int rows, int cols,
                                 int across) {
  __shared__ float turned[16][17];  // [column of in][row of in]
  int c = blockIdx.x % across * 16 + threadIdx.x;
  int r = blockIdx.x / across * 16 + threadIdx.y;
  if (c < cols && r < rows) {
    turned[threadIdx.x][threadIdx.y] = in[static_cast<size_t>(r) * cols + c];
  }
  __syncthreads();
  r = blockIdx.x / across * 16 + threadIdx.x;
  c = blockIdx.x % across * 16 + threadIdx.y;
  if (c < cols && r < rows) {
    out[static_cast<size_t>(c) * rows + r] = turned[threadIdx.y][threadIdx.x];
  }
}

void launch_transpose_tile(const float* d_in, float* d_out, int rows, int cols) {
  if (rows == 0 || cols == 0) return;
  // 2^20 rows have more tiles of 16 than a grid has blocks in y: all of them lie along x.
  const int across = (cols - 1) / 16 + 1, down = (rows - 1) / 16 + 1;
  transpose_square<<<across * down, dim3(16, 16)>>>(d_in, d_out, rows, cols, across);
}
