// 07/16 Matmul with wgmma: what the test calls. For cards of compute capability 9.0 (H100, H200).
#ifndef CHAPTERS_07_TILED_MATMUL_16_MATMUL_WGMMA_H_
#define CHAPTERS_07_TILED_MATMUL_16_MATMUL_WGMMA_H_

#include <cuda_bf16.h>

// c = a b, row-major in device memory; inputs in bfloat16, sums and c in float.
//   d_a  m x k,  d_b  k x n,  d_c  m x n;  m, n, k from 0 to 2^20, no matrix of 2^31 elements
// What the copy engine asks for is promised: n and k are multiples of 8, and all three pointers of
// 16 bytes.
void launch_matmul_wgmma(const __nv_bfloat16* d_a, const __nv_bfloat16* d_b, float* d_c, int m,
                         int n, int k);

#endif  // CHAPTERS_07_TILED_MATMUL_16_MATMUL_WGMMA_H_
