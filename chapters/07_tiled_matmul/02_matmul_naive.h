// 07/02 Matmul, naive: what the test calls.
#ifndef CHAPTERS_07_TILED_MATMUL_02_MATMUL_NAIVE_H_
#define CHAPTERS_07_TILED_MATMUL_02_MATMUL_NAIVE_H_

// c = a b, row-major in device memory.
// Writes each element of c once: what was in c before is not read, nor set to 0 first.
//   d_a  m x k,  d_b  k x n,  d_c  m x n;  m, n, k from 0 to 2^20, no matrix of 2^31 elements
void launch_matmul_naive(const float* d_a, const float* d_b, float* d_c, int m, int n, int k);

#endif  // CHAPTERS_07_TILED_MATMUL_02_MATMUL_NAIVE_H_
