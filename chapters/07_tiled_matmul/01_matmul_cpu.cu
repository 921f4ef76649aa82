// 07/01 Matmul, CPU: the product on paper, in a better order, and tile by tile, before any GPU.
//   a  m x k,  b  k x n,  c  m x n: floats, row-major, in host memory; c = a b
//   Any sizes from 0; a sum of no products is 0.
//   matmul_blocks is the kernel of 04, without a GPU: a loop takes the place of a block, another
//   that of its threads, and an array that of its shared memory.
//   TODOs  3
#include "01_matmul_cpu.h"

void matmul_loops(const float* a, const float* b, float* c, int m, int n, int k) {
  // TODO(1): c[row][col] is the sum of a[row][i] b[i][col] over i (about 7 lines).
}

void matmul_rows(const float* a, const float* b, float* c, int m, int n, int k) {
  // TODO(2): The same with the loop over columns inside, so that b and c are read and written
  // along their rows. c holds nothing of use at the beginning (about 7 lines).
}

// What one block does. `each` is called with a function of (tx, ty), and calls it for every thread
// of the block; when it returns, all threads have come to the same place: a barrier.
static void block(int block_x, int block_y, const float* a, const float* b, float* c, int m, int n,
                  int k, const EachThread& each) {
  float tile_a[kTile][kTile], tile_b[kTile][kTile];  // [row of c][step of k], [step of k][column]
  float sums[kTile][kTile];                          // [ty][tx]: a register of each thread
  each([&](int tx, int ty) { sums[ty][tx] = 0.0f; });
  for (int first = 0; first < k; first += kTile) {
    // TODO(3): Two phases, each with a call of `each`: thread (tx, ty) loads its element of both
    // tiles, zero where there is none; then it adds kTile products to its sum (about 10 lines).
    each([&](int tx, int ty) { tile_a[ty][tx] = tile_b[ty][tx] = 0.0f; });
  }
  each([&](int tx, int ty) {
    const int row = block_y * kTile + ty, col = block_x * kTile + tx;
    if (row < m && col < n) c[row * n + col] = sums[ty][tx];
  });
}

void matmul_blocks(const float* a, const float* b, float* c, int m, int n, int k,
                   const EachThread& each) {
  for (int block_y = 0; block_y * kTile < m; ++block_y) {
    for (int block_x = 0; block_x * kTile < n; ++block_x) {
      block(block_x, block_y, a, b, c, m, n, k, each);
    }
  }
}
