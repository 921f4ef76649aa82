// 07/17 Matmul, batched: what the test calls.
#ifndef CHAPTERS_07_TILED_MATMUL_17_MATMUL_BATCHED_H_
#define CHAPTERS_07_TILED_MATMUL_17_MATMUL_BATCHED_H_

// c[z] = a[z] b[z] for z from 0 to batch - 1, in one launch in all; row-major in device memory.
//   a[z]  m x k, begins at d_a + z * stride_a;  m, n, k and batch from 0 to 2^20
//   b[z]  k x n, begins at d_b + z * stride_b
//   c[z]  m x n, begins at d_c + z * stride_c;  no matrix has 2^31 elements
//   Strides are counted in floats. That of c is at least m n. Those of a and b are at least m k and
//   k n, or 0: then all products share one matrix.
//   most_planes  the grid is at most that high (gridDim.z), from 1 to 65,535, which is all that
//                CUDA allows; how the grid is laid out below that is yours
void launch_matmul_batched(const float* d_a, const float* d_b, float* d_c, int m, int n, int k,
                           int batch, long long stride_a, long long stride_b, long long stride_c,
                           int most_planes);

#endif  // CHAPTERS_07_TILED_MATMUL_17_MATMUL_BATCHED_H_
