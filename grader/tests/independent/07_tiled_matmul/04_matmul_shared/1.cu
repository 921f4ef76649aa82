// Tiles of 16 with padding
// 07/04 Matmul, shared: a block loads what all its threads need once, tile by tile.
//   a  m x k,  b  k x n,  c  m x n: floats, row-major, in device memory; c = a b
//   Any sizes from 0; a sum of no products is 0. No matrix has 2^31 elements or more.
//   A block makes a tile of 32 x 32 elements of c, in steps of 32 along k. In each step every
//   thread loads one element of a and one of b, and every thread of the block uses them.
//   TODOs  2
#include "04_matmul_shared.h"

constexpr int kTile = 16;  // rows and columns of a tile, steps along k

__global__ void matmul_shared(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float tile_a[kTile][kTile + 1];  // [row of c][step of k]
  __shared__ float tile_b[kTile][kTile];  // [step of k][column of c]
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * kTile + ty;
  const int col = blockIdx.x * kTile + tx;
  float sum = 0.0f;
  for (int first = 0; first < k; first += kTile) {
    // TODO(1): Load this thread's element of both tiles; zero where there is none. Then make
    // sure that everybody's elements are there (about 3 lines).
    tile_a[ty][tx] = row < m && first + tx < k ? a[row * k + first + tx] : 0.0f;
    tile_b[ty][tx] = first + ty < k && col < n ? b[(first + ty) * n + col] : 0.0f;
    __syncthreads();
    // TODO(2): Add the kTile products of this step. Then make sure that nobody still needs
    // the tiles when the next step overwrites them (about 4 lines).
    for (int i = 0; i < kTile; ++i) sum += tile_a[ty][i] * tile_b[i][tx];
    __syncthreads();
  }
  if (row < m && col < n) {
    c[row * n + col] = sum;
  }
}

void launch_matmul_shared(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
  if (grid.x > 0 && grid.y > 0) {
    matmul_shared<<<grid, dim3(kTile, kTile)>>>(d_a, d_b, d_c, m, n, k);
  }
}
