// 09/01 cuBLAS, products: what the test calls.
#ifndef CHAPTERS_09_CUDA_LIBRARIES_01_CUBLAS_SGEMM_H_
#define CHAPTERS_09_CUDA_LIBRARIES_01_CUBLAS_SGEMM_H_

#include <cublas_v2.h>

#include <cstddef>

// The place of element (row, col), counted from the first, in a matrix that is stored column by
// column. ld is the leading dimension: elements from the begin of one column to that of the next.
size_t column_major(int row, int col, int ld);

// *handle: a new handle whose calls are work of `stream`. The caller destroys it, also where it was
// made and something after that has failed.
cublasStatus_t create_handle(cudaStream_t stream, cublasHandle_t* handle);

// c = alpha a b + beta c, in the stream of the handle, which is in host pointer mode. d_a: m x k,
// d_b: k x n, d_c: m x n floats in device memory, row-major; element (i, j) of a is
// d_a[i * lda + j]. lda >= k, ldb >= n, ldc >= n, all of them at least 1. With beta = 0 nothing is
// read from c. Does not wait.
cublasStatus_t launch_sgemm(cublasHandle_t handle, int m, int n, int k, float alpha,
                            const float* d_a, int lda, const float* d_b, int ldb, float beta,
                            float* d_c, int ldc);

#endif  // CHAPTERS_09_CUDA_LIBRARIES_01_CUBLAS_SGEMM_H_
