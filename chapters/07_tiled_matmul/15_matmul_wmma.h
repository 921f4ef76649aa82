// 07/15 Matmul on tensor cores: what the test calls.
#ifndef CHAPTERS_07_TILED_MATMUL_15_MATMUL_WMMA_H_
#define CHAPTERS_07_TILED_MATMUL_15_MATMUL_WMMA_H_

#include <cuda_bf16.h>

// c = a b, row-major in device memory; inputs in bfloat16, sums and c in float.
//   d_a  m x k,  d_b  k x n,  d_c  m x n;  m, n, k from 0 to 2^20, no matrix of 2^31 elements
void launch_matmul_wmma(const __nv_bfloat16* d_a, const __nv_bfloat16* d_b, float* d_c, int m,
                        int n, int k);

#endif  // CHAPTERS_07_TILED_MATMUL_15_MATMUL_WMMA_H_
