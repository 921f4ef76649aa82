// 03/05 Transpose, tile: rows become columns, by way of shared memory.
//   in     rows x cols floats in device memory, row-major; 0 <= rows, cols <= 2^20
//   out    cols x rows floats in device memory, row-major; out[c][r] = in[r][c]
//   A block turns one tile. Reading and writing must both go along rows: a warp reads neighbours of
//   in, and writes neighbours of out. Tile and block are yours to choose.
//   TODOs  2
#include "05_transpose_tile.h"

constexpr int kTile = 32;   // rows and columns of a tile
constexpr int kHeight = 8;  // threadIdx.y goes from 0 to 7: each thread has 4 elements

__global__ void transpose_tile(const float* in, float* out, int rows, int cols) {
  __shared__ float tile[kTile][kTile];  // [row of in][column of in], both within the tile

  const int col = blockIdx.x * kTile + threadIdx.x;
  for (int j = threadIdx.y; j < kTile; j += kHeight) {
    const int row = blockIdx.y * kTile + j;
    if (row < rows && col < cols) tile[j][threadIdx.x] = in[static_cast<size_t>(row) * cols + col];
  }

  const int out_col = blockIdx.y * kTile + threadIdx.x;  // rows of in are columns of out
  for (int j = threadIdx.y; j < kTile; j += kHeight) {
    const int out_row = blockIdx.x * kTile + j;
    if (out_row < cols && out_col < rows) {
      out[static_cast<size_t>(out_row) * rows + out_col] = tile[threadIdx.x][j];
    }
  }
}

void launch_transpose_tile(const float* d_in, float* d_out, int rows, int cols) {
  const dim3 grid((cols + kTile - 1) / kTile, (rows + kTile - 1) / kTile);
  if (grid.x > 0 && grid.y > 0) {
    transpose_tile<<<grid, dim3(kTile, kHeight)>>>(d_in, d_out, rows, cols);
  }
}
