// 09/04 cuBLAS, halves: what the test calls.
#ifndef CHAPTERS_09_CUDA_LIBRARIES_04_CUBLAS_HALF_H_
#define CHAPTERS_09_CUDA_LIBRARIES_04_CUBLAS_HALF_H_

#include <cublas_v2.h>
#include <cuda_fp16.h>

#include <cstddef>

// h[i] = x[i], rounded to the nearest half. d_x: n floats, d_h: n halves, in device memory; any n,
// also 0. Work of `stream`; does not wait.
void launch_to_half(const float* d_x, __half* d_h, size_t n, cudaStream_t stream);

// c = a b. a: m x k, b: k x n, c: m x n, row-major, rows without gaps, in device memory; all sizes
// at least 1. In the stream of the handle; do not wait. The handle is in host pointer mode.
// Everything in half precision: the sums too.
cublasStatus_t launch_hgemm(cublasHandle_t handle, int m, int n, int k, const __half* d_a,
                            const __half* d_b, __half* d_c);
// Halves are read, sums and c are single precision.
cublasStatus_t launch_gemm_ex(cublasHandle_t handle, int m, int n, int k, const __half* d_a,
                              const __half* d_b, float* d_c);

// *error = |c - right| / |right| (Euclidean norms). d_c, d_right: n floats in device memory, n >=
// 1; d_right is not zero. d_c may be overwritten. In the stream of the handle; waits for the
// result. Where it returns a refusal, *error means nothing.
cublasStatus_t relative_error(cublasHandle_t handle, int n, float* d_c, const float* d_right,
                              float* error);

#endif  // CHAPTERS_09_CUDA_LIBRARIES_04_CUBLAS_HALF_H_
