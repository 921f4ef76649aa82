// 07/06 Matmul, 1-D tile: a thread computes eight elements of a column of c.
//   a  m x k,  b  k x n,  c  m x n: floats, row-major, in device memory; c = a b
//   Any sizes from 0; a sum of no products is 0. No matrix has 2^31 elements or more.
//   A word of b that a thread has read from shared memory now serves all its multiply-adds of a
//   step. Tile, step and block are yours.
//   TODOs  1
#include "06_matmul_1d_tile.h"

// TODO(1): This is 04. What must hold instead: a thread makes several elements of a column of
// c, and a word of b that it has read serves all of them.
constexpr int kTile = 32;  // rows and columns of a tile, steps along k

__global__ void matmul_1d_tile(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float tile_a[kTile][kTile];  // [row of c][step of k]
  __shared__ float tile_b[kTile][kTile];  // [step of k][column of c]
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * kTile + ty;
  const int col = blockIdx.x * kTile + tx;
  float sum = 0.0f;
  for (int first = 0; first < k; first += kTile) {
    tile_a[ty][tx] = row < m && first + tx < k ? a[row * k + first + tx] : 0.0f;
    tile_b[ty][tx] = first + ty < k && col < n ? b[(first + ty) * n + col] : 0.0f;
    __syncthreads();  // closes write against read: a thread reads what 62 others have loaded
    for (int i = 0; i < kTile; ++i) {
      sum += tile_a[ty][i] * tile_b[i][tx];
    }
    __syncthreads();  // closes read against write: the next step overwrites both tiles
  }
  if (row < m && col < n) {
    c[row * n + col] = sum;
  }
}

void launch_matmul_1d_tile(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
  if (grid.x > 0 && grid.y > 0) {
    matmul_1d_tile<<<grid, dim3(kTile, kTile)>>>(d_a, d_b, d_c, m, n, k);
  }
}
