// 09/06 cuBLASXt: what the test calls.
#ifndef CHAPTERS_09_CUDA_LIBRARIES_06_CUBLASXT_H_
#define CHAPTERS_09_CUDA_LIBRARIES_06_CUBLASXT_H_

#include <cublasXt.h>

#include <cstddef>

// *handle: a new handle that works on every device of this machine and cuts matrices into blocks of
// block x block. The caller destroys it, also where it was made and something after that has
// failed.
cublasStatus_t create_xt(int block, cublasXtHandle_t* handle);

// c = alpha a b + beta c. a: m x k, b: k x n, c: m x n floats in host memory, row-major; element
// (i, j) of a is a[i * lda + j]. lda >= k, ldb >= n, ldc >= n. c is complete on return.
cublasStatus_t xt_sgemm(cublasXtHandle_t handle, size_t m, size_t n, size_t k, float alpha,
                        const float* a, size_t lda, const float* b, size_t ldb, float beta,
                        float* c, size_t ldc);

// How a product of these sizes is shared out, all sizes at least 1. c is cut into blocks of
// block x block; those at its right and lower edge may be smaller. Devices take turns: block 0 goes
// to device 0, block 1 to device 1. For a block of c, all of its rows of a and all of its columns
// of b are sent to its device, whatever is there already; with beta = 0 nothing of c is.
struct Shares {
  size_t blocks;   // of c
  size_t busiest;  // the most blocks that a device has
  size_t sent;     // bytes of a and b, to all devices together
};
Shares share_out(size_t m, size_t n, size_t k, size_t block, size_t devices);

#endif  // CHAPTERS_09_CUDA_LIBRARIES_06_CUBLASXT_H_
