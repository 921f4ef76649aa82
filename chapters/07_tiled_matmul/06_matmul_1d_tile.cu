// 07/06 Matmul, 1-D tile: a thread computes eight elements of a column of c.
//   a  m x k,  b  k x n,  c  m x n: floats, row-major, in device memory; c = a b
//   Any sizes from 0; a sum of no products is 0. No matrix has 2^31 elements or more.
//   A block of 512 threads makes a tile of 64 x 64 elements of c, in steps of 8 along k. A word
//   of b that a thread has read from shared memory now serves eight multiply-adds.
//   TODOs  3
#include "06_matmul_1d_tile.h"

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
    // TODO(1): The tiles are no squares any more: find the element of each that thread t loads.
    // Neighbouring threads load neighbours in memory (about 5 lines).
    tile_a[t / kStep][t % kStep] = 0.0f;
    tile_b[t / kTile][t % kTile] = 0.0f;
    __syncthreads();  // closes write against read: other threads have loaded most of what is read
    // TODO(2): Read each word of b once, and use it for all kRows sums (about 6 lines).
    sums[0] += tile_a[kRows * ty][0] * tile_b[0][tx];
    __syncthreads();  // closes read against write: the next step overwrites both tiles
  }
  // TODO(3): Write the kRows elements, those that c has (about 6 lines).
  if (first_row + kRows * ty < m && first_col + tx < n) {
    c[(first_row + kRows * ty) * n + first_col + tx] = sums[0];
  }
}

void launch_matmul_1d_tile(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
  if (grid.x > 0 && grid.y > 0) {
    matmul_1d_tile<<<grid, kThreads>>>(d_a, d_b, d_c, m, n, k);
  }
}
