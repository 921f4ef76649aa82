// 09/02 cuBLAS, vectors: what the test calls.
#ifndef CHAPTERS_09_CUDA_LIBRARIES_02_CUBLAS_VECTORS_H_
#define CHAPTERS_09_CUDA_LIBRARIES_02_CUBLAS_VECTORS_H_

#include <cublas_v2.h>

// All of them work in the stream of the handle, whatever its pointer mode, and leave that as it
// was. They return the first status that is no success; a launch that fails is
// CUBLAS_STATUS_EXECUTION_FAILED.

// r = r - a x. d_a: m x n floats, row-major, row i at d_a + i * lda with lda >= n and lda >= 1;
// d_x: n, d_r: m floats. If r holds b before the call, what is left is the residual of a x = b.
// Does not wait.
cublasStatus_t launch_residual(cublasHandle_t handle, int m, int n, const float* d_a, int lda,
                               const float* d_x, float* d_r);

// *result = (x y) / (|x| |y|), on the host: the cosine of the angle between x and y, 0 if one of
// them has no length. Element i of x is d_x[i * incx], that of y d_y[i * incy]; n of each. x y, |x|
// and |y| fit into floats; squares of them need not. Waits for the result.
cublasStatus_t cosine(cublasHandle_t handle, int n, const float* d_x, int incx, const float* d_y,
                      int incy, float* result);

// y = y - (x y) x: takes out of y what points along x, whose length is 1. n floats each; d_scalar
// is room for one float in device memory. Does not wait, and can be captured into a graph.
cublasStatus_t launch_remove(cublasHandle_t handle, int n, const float* d_x, float* d_y,
                             float* d_scalar);

#endif  // CHAPTERS_09_CUDA_LIBRARIES_02_CUBLAS_VECTORS_H_
