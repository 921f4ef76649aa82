// 03/05 Transpose, tile: rows become columns, by way of shared memory.
//   in     rows x cols floats in device memory, row-major; 0 <= rows, cols <= 2^20
//   out    cols x rows floats in device memory, row-major; out[c][r] = in[r][c]
//   A block of 32 x 8 threads turns a tile of 32 x 32 elements. Reading and writing must both go
//   along rows: a warp with threadIdx.x as the column of in, then as the column of out.
//   TODOs  2
#include "05_transpose_tile.h"

constexpr int kTile = 32;   // rows and columns of a tile
constexpr int kHeight = 8;  // threadIdx.y goes from 0 to 7: each thread has 4 elements

__global__ void transpose_tile(const float* in, float* out, int rows, int cols) {
  __shared__ float tile[kTile][kTile];  // [row of in][column of in], both within the tile

  // TODO(1): Fill the tile from in, four elements per thread, nothing past the edges; then wait
  // until all of it is there (about 7 lines).
  tile[threadIdx.y][threadIdx.x] = 0.0f;

  // TODO(2): These lines copy the tile. Write it turned: row j of this part of out is column j of
  // the tile, and threadIdx.x goes along that row (about 7 lines).
  for (int j = threadIdx.y; j < kTile; j += kHeight) {
    const size_t i = static_cast<size_t>(blockIdx.y * kTile + j) * cols + blockIdx.x * kTile +
                     threadIdx.x;
    if (i < static_cast<size_t>(rows) * cols) out[i] = tile[j][threadIdx.x];
  }
}

void launch_transpose_tile(const float* d_in, float* d_out, int rows, int cols) {
  const dim3 grid((cols + kTile - 1) / kTile, (rows + kTile - 1) / kTile);
  if (grid.x > 0 && grid.y > 0) {
    transpose_tile<<<grid, dim3(kTile, kHeight)>>>(d_in, d_out, rows, cols);
  }
}
