// Another right answer: 16 x 16 threads and tiles, one element per thread, the tile held turned.
#include "05_transpose_tile.h"

__global__ void transpose_square(const float* in, float* out, int rows, int cols) {
  __shared__ float turned[16][17];  // [column of in][row of in]
  int c = blockIdx.x * 16 + threadIdx.x;
  int r = blockIdx.y * 16 + threadIdx.y;
  if (c < cols && r < rows) {
    turned[threadIdx.x][threadIdx.y] = in[static_cast<size_t>(r) * cols + c];
  }
  __syncthreads();
  r = blockIdx.y * 16 + threadIdx.x;
  c = blockIdx.x * 16 + threadIdx.y;
  if (c < cols && r < rows) {
    out[static_cast<size_t>(c) * rows + r] = turned[threadIdx.y][threadIdx.x];
  }
}

void launch_transpose_tile(const float* d_in, float* d_out, int rows, int cols) {
  if (rows == 0 || cols == 0) return;
  transpose_square<<<dim3((cols - 1) / 16 + 1, (rows - 1) / 16 + 1), dim3(16, 16)>>>(d_in, d_out,
                                                                                     rows, cols);
}
