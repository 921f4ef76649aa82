// 07/12 Matmul, warp tiled: what the test calls.
#ifndef CHAPTERS_07_TILED_MATMUL_12_MATMUL_WARP_TILED_H_
#define CHAPTERS_07_TILED_MATMUL_12_MATMUL_WARP_TILED_H_

// c = a b, row-major in device memory.
//   d_a  m x k,  d_b  k x n,  d_c  m x n;  m, n, k from 0 to 2^20, no matrix of 2^31 elements
void launch_matmul_warp_tiled(const float* d_a, const float* d_b, float* d_c, int m, int n, int k);

#endif  // CHAPTERS_07_TILED_MATMUL_12_MATMUL_WARP_TILED_H_
