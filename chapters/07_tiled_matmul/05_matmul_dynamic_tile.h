// 07/05 Matmul, dynamic tile: what the test calls.
#ifndef CHAPTERS_07_TILED_MATMUL_05_MATMUL_DYNAMIC_TILE_H_
#define CHAPTERS_07_TILED_MATMUL_05_MATMUL_DYNAMIC_TILE_H_

// The width of the tiles of a and b, also the side of a block: 8, 16 or 32.
//   m, n          rows and columns of c, at least 1
//   threads       that a block of the device can have, at least 64
//   shared_bytes  of shared memory that a block of the device can have, at least 512
// The greatest width that fits, but no wider than the least of the three that covers the shorter
// side of c, where one does: a wider one would have more idle threads, and more zeros to multiply.
int tile_width(int m, int n, int threads, int shared_bytes);

// c = a b, row-major in device memory, in tiles of that width.
//   d_a  m x k,  d_b  k x n,  d_c  m x n;  m, n, k from 0 to 2^20, no matrix of 2^31 elements;
//   where m or n is 0 there is nothing to do
void launch_matmul_dynamic_tile(const float* d_a, const float* d_b, float* d_c, int m, int n,
                                int k);

// Given: the same, with tiles of 32 x 32, whose width the kernel gets as a parameter.
void launch_matmul_run_time_width(const float* d_a, const float* d_b, float* d_c, int m, int n,
                                  int k);

#endif  // CHAPTERS_07_TILED_MATMUL_05_MATMUL_DYNAMIC_TILE_H_
