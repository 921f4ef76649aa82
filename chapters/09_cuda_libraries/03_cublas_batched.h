// 09/03 cuBLAS, batched: what the test calls.
#ifndef CHAPTERS_09_CUDA_LIBRARIES_03_CUBLAS_BATCHED_H_
#define CHAPTERS_09_CUDA_LIBRARIES_03_CUBLAS_BATCHED_H_

#include <cublas_v2.h>

// Row-major matrices without gaps between rows, in device memory; m, n, k >= 1, batch >= 0. The
// handle is in host pointer mode. Nothing waits. Both functions return the first status that is no
// success; a launch that fails is CUBLAS_STATUS_EXECUTION_FAILED.

// c[z] = a[z] b[z] for z from 0 to batch - 1. a[z] (m x k) begins at d_a + z * stride_a, b[z]
// (k x n) at d_b + z * stride_b, c[z] (m x n) at d_c + z * stride_c; strides in floats. A stride of
// a or b may be 0: all products share that matrix.
cublasStatus_t launch_strided(cublasHandle_t handle, int m, int n, int k, const float* d_a,
                              long long stride_a, const float* d_b, long long stride_b, float* d_c,
                              long long stride_c, int batch);

// Room for the pointers of a batch: three arrays in device memory, one pointer for each product.
struct Products {
  const float** a;
  const float** b;
  float** c;
};

// c[z] = a[z] b[which[z]] for z from 0 to batch - 1: every product chooses its b, by d_which, batch
// numbers in device memory. All matrices of a kind lie one behind the other. The host does not know
// the choice, so a kernel writes the pointers.
cublasStatus_t launch_chosen(cublasHandle_t handle, int m, int n, int k, const float* d_a,
                             const float* d_b, const int* d_which, float* d_c, int batch,
                             const Products& products);

#endif  // CHAPTERS_09_CUDA_LIBRARIES_03_CUBLAS_BATCHED_H_
