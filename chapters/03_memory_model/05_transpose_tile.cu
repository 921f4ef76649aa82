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

  // TODO(1): The block's part of in lies in the tile, nothing past the edges is touched, and
  // every thread may read all of it (about 7 lines).
  tile[threadIdx.y][threadIdx.x] = 0.0f;

  // TODO(2): These lines copy the tile to where it came from. It must arrive turned, at its place
  // in out, and the neighbours that a warp writes must be neighbours there (about 7 lines).
  for (int j = threadIdx.y; j < kTile; j += kHeight) {
    const size_t i = static_cast<size_t>(blockIdx.y * kTile + j) * cols + blockIdx.x * kTile +
                     threadIdx.x;
    if (i < static_cast<size_t>(rows) * cols) out[i] = tile[j][threadIdx.x];
  }
}

void launch_transpose_tile(const float* d_in, float* d_out, int rows, int cols) {
  // Still TODO(2): A tile for every part of in, also at the edges (about 4 lines).
  if (rows > 0 && cols > 0) transpose_tile<<<1, dim3(kTile, kHeight)>>>(d_in, d_out, rows, cols);
}
