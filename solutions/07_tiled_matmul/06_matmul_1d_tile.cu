// 07/06 Matmul, 1-D tile: a thread computes eight elements of a column of c.
//   a  m x k,  b  k x n,  c  m x n: floats, row-major, in device memory; c = a b
//   Any sizes from 0; a sum of no products is 0. No matrix has 2^31 elements or more.
//   A word of b that a thread has read from shared memory now serves all its multiply-adds of a
//   step. Tile, step and block are yours.
//   TODOs  1
#include "06_matmul_1d_tile.h"

//~ // TODO(1): This is 04. What must hold instead: a thread makes several elements of a column of
//~ // c, and a word of b that it has read serves all of them.
//~ constexpr int kTile = 32;  // rows and columns of a tile, steps along k
//~
//~ __global__ void matmul_1d_tile(const float* a, const float* b, float* c, int m, int n, int k) {
//~   __shared__ float tile_a[kTile][kTile];  // [row of c][step of k]
//~   __shared__ float tile_b[kTile][kTile];  // [step of k][column of c]
//~   const int tx = threadIdx.x, ty = threadIdx.y;
//~   const int row = blockIdx.y * kTile + ty;
//~   const int col = blockIdx.x * kTile + tx;
//~   float sum = 0.0f;
//~   for (int first = 0; first < k; first += kTile) {
//~     tile_a[ty][tx] = row < m && first + tx < k ? a[row * k + first + tx] : 0.0f;
//~     tile_b[ty][tx] = first + ty < k && col < n ? b[(first + ty) * n + col] : 0.0f;
//~     __syncthreads();  // closes write against read: a thread reads what 62 others have loaded
//~     for (int i = 0; i < kTile; ++i) {
//~       sum += tile_a[ty][i] * tile_b[i][tx];
//~     }
//~     __syncthreads();  // closes read against write: the next step overwrites both tiles
//~   }
//~   if (row < m && col < n) {
//~     c[row * n + col] = sum;
//~   }
//~ }
//~begin 1
constexpr int kTile = 64;                        // rows and columns of a tile of c
constexpr int kStep = 8;                         // steps along k
constexpr int kRows = 8;                         // elements of c per thread, below each other
constexpr int kThreads = kTile * kTile / kRows;  // of a block
static_assert(kThreads == kTile * kStep, "each thread loads one element of both tiles");

__global__ void __launch_bounds__(kThreads)
    matmul_1d_tile(const float* a, const float* b, float* c, int m, int n, int k) {
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
//~end

void launch_matmul_1d_tile(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  //~ const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
  //~ if (grid.x > 0 && grid.y > 0) {
  //~   matmul_1d_tile<<<grid, dim3(kTile, kTile)>>>(d_a, d_b, d_c, m, n, k);
  //~ }
  //~begin 1
  const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
  if (grid.x > 0 && grid.y > 0) {
    matmul_1d_tile<<<grid, kThreads>>>(d_a, d_b, d_c, m, n, k);
  }
  //~end
}
