// 07/01 Matmul, CPU: what the test calls, and what is given.
#ifndef CHAPTERS_07_TILED_MATMUL_01_MATMUL_CPU_H_
#define CHAPTERS_07_TILED_MATMUL_01_MATMUL_CPU_H_

#include <functional>

constexpr int kTile = 4;  // rows and columns of a tile: small enough to follow on paper

// c = a b on the host: a is m x k, b is k x n, c is m x n, row-major; m, n, k >= 0.
// Three loops, a sum for each element of c.
void matmul_loops(const float* a, const float* b, float* c, int m, int n, int k);
// The same, along the rows of b and c.
void matmul_rows(const float* a, const float* b, float* c, int m, int n, int k);

// Calls its argument once for each thread (tx, ty) of a block of kTile x kTile. In which order is
// not said, as on a GPU.
using EachThread = std::function<void(const std::function<void(int tx, int ty)>&)>;
// The same, block by block and tile by tile.
void matmul_blocks(const float* a, const float* b, float* c, int m, int n, int k,
                   const EachThread& each);

#endif  // CHAPTERS_07_TILED_MATMUL_01_MATMUL_CPU_H_
