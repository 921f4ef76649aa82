// 07/07 Matmul, 2-D tile: a thread computes eight by eight elements of c, in registers.
//   a  m x k,  b  k x n,  c  m x n: floats, row-major, in device memory; c = a b
//   Any sizes from 0; a sum of no products is 0. No matrix has 2^31 elements or more.
//   A block of 16 x 16 threads makes a tile of 128 x 128 elements of c, in steps of 16 along k.
//   Thread (tx, ty) has the rows ty, ty + 16, ... and the columns tx, tx + 16, ... of the tile: so
//   the lanes of a warp always read and write neighbours.
//   TODOs  3
#include "07_matmul_2d_tile.h"

constexpr int kTile = 128;               // rows and columns of a tile of c
constexpr int kStep = 16;                // steps along k
constexpr int kSide = 16;                // threads of a block side
constexpr int kRows = kTile / kSide;     // of c, per thread
constexpr int kCols = kTile / kSide;     // likewise
constexpr int kThreads = kSide * kSide;  // of a block

__global__ void __launch_bounds__(kThreads)
    matmul_2d_tile(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float tile_a[kTile][kStep];  // [row of c][step of k]
  __shared__ float tile_b[kStep][kTile];  // [step of k][column of c]
  const int t = threadIdx.x;
  const int first_row = blockIdx.y * kTile, first_col = blockIdx.x * kTile;
  const int tx = t % kSide, ty = t / kSide;
  float sums[kRows][kCols] = {};  // [row of this thread][column of this thread]
  for (int first = 0; first < k; first += kStep) {
    // TODO(1): A tile has eight times as many elements as the block has threads. Load element e
    // of both, for e = t, t + kThreads, ... (about 7 lines).
    for (int e = t; e < kTile * kStep; e += kThreads) {
      const int ra = first_row + e / kStep, ca = first + e % kStep, rb = first + e / kTile, cb = first_col + e % kTile;
      tile_a[e / kStep][e % kStep] = ra < m && ca < k ? a[ra * k + ca] : 0.0f;
      tile_b[e / kTile][e % kTile] = rb < k && cb < n ? b[rb * n + cb] : 0.0f;
    }
    __syncthreads();  // closes write against read: other threads have loaded most of what is read
#pragma unroll 4
    for (int i = 0; i < kStep; ++i) {
      // TODO(2): Read kRows words of a and kCols words of b into registers, then add their
      // kRows * kCols products (about 5 lines).
      float of_a[kRows], of_b[kCols];
      for (int r = 0; r < kRows; ++r) of_a[r] = tile_a[ty + r * kSide][i];
      for (int q = 0; q < kCols; ++q) of_b[q] = tile_b[i][tx + q * kSide];
      for (int r = 0; r < kRows; ++r) for (int q = 0; q < kCols; ++q) sums[r][q] += of_a[r] * of_b[q];
    }
    __syncthreads();  // closes read against write: the next step overwrites both tiles
  }
  for (int r = 0; r < kRows; ++r) {
    // TODO(3): Write row r of sums, those elements that c has (about 5 lines).
    const int row = first_row + ty + r * kSide;
    for (int q = 0; q < kCols; ++q) {
      const int col = first_col + tx + q * kSide;
      if (row < m && col < n) c[row * n + col] = sums[r][q];
    }
  }
}

void launch_matmul_2d_tile(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
  if (grid.x > 0 && grid.y > 0) {
    matmul_2d_tile<<<grid, kThreads>>>(d_a, d_b, d_c, m, n, k);
  }
}
