// 07/13 Matmul, tall and skinny: what the test calls.
#ifndef CHAPTERS_07_TILED_MATMUL_13_MATMUL_TALL_SKINNY_H_
#define CHAPTERS_07_TILED_MATMUL_13_MATMUL_TALL_SKINNY_H_

// c = a b, row-major in device memory, made for many rows and few columns.
//   d_a  m x k,  d_b  k x n,  d_c  m x n;  m, n, k from 0 to 2^20, no matrix of 2^31 elements
void launch_matmul_tall_skinny(const float* d_a, const float* d_b, float* d_c, int m, int n, int k);

#endif  // CHAPTERS_07_TILED_MATMUL_13_MATMUL_TALL_SKINNY_H_
