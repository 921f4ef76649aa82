// 07/07 Matmul, 2-D tile: a thread computes eight by eight elements of c, in registers.
//   a  m x k,  b  k x n,  c  m x n: floats, row-major, in device memory; c = a b
//   Any sizes from 0; a sum of no products is 0. No matrix has 2^31 elements or more.
//   A thread reads an edge from shared memory and multiplies an area. Tile, step, block and which
//   rows and columns a thread has are yours; neighbouring lanes should read and write neighbours.
//   TODOs  1
#include "07_matmul_2d_tile.h"

// TODO(1): This is 06. What must hold instead: a thread makes a rectangle of c, so that a word
// from shared memory, once in a register, serves about eight products.
constexpr int kTile = 64;                        // rows and columns of a tile of c
constexpr int kStep = 8;                         // steps along k
constexpr int kRows = 8;                         // elements of c per thread, below each other
constexpr int kThreads = kTile * kTile / kRows;  // of a block
static_assert(kThreads == kTile * kStep, "each thread loads one element of both tiles");

__global__ void __launch_bounds__(kThreads)
    matmul_2d_tile(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float tile_a[kTile][kStep];  // [row of c][step of k]
  __shared__ float tile_b[kStep][kTile];  // [step of k][column of c]
  const int t = threadIdx.x;
  const int first_row = blockIdx.y * kTile, first_col = blockIdx.x * kTile;
  const int tx = t % kTile, ty = t / kTile;  // column of the tile, group of kRows rows
  float sums[kRows] = {};                    // of rows kRows * ty + 0 .. 7, column tx
  for (int first = 0; first < k; first += kStep) {
    const int row = first_row + t / kStep, col = first_col + t % kTile;
    const int i_a = first + t % kStep, i_b = first + t / kTile;
    tile_a[t / kStep][t % kStep] = row < m && i_a < k ? a[row * k + i_a] : 0.0f;
    tile_b[t / kTile][t % kTile] = i_b < k && col < n ? b[i_b * n + col] : 0.0f;
    __syncthreads();  // closes write against read: other threads have loaded most of what is read
    for (int i = 0; i < kStep; ++i) {
      const float from_b = tile_b[i][tx];
      for (int r = 0; r < kRows; ++r) {
        sums[r] += tile_a[kRows * ty + r][i] * from_b;
      }
    }
    __syncthreads();  // closes read against write: the next step overwrites both tiles
  }
  for (int r = 0; r < kRows; ++r) {
    const int row = first_row + kRows * ty + r, col = first_col + tx;
    if (row < m && col < n) {
      c[row * n + col] = sums[r];
    }
  }
}

void launch_matmul_2d_tile(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
  if (grid.x > 0 && grid.y > 0) {
    matmul_2d_tile<<<grid, kThreads>>>(d_a, d_b, d_c, m, n, k);
  }
}
