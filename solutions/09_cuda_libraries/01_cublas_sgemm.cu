// 09/01 cuBLAS, products: c = alpha a b + beta c, by a library whose matrices are column-major.
//   a  m x k,  b  k x n,  c  m x n: floats, row-major, in device memory; any size, also 0
//   Row i of a begins lda floats after row i - 1: its leading dimension, at least k. ldb and ldc
//   the same. What lies between the rows is not ours.
//   TODOs  3
#include "01_cublas_sgemm.h"

size_t column_major(int row, int col, int ld) {
  //~ // TODO(1): This is the place in a row-major matrix. How many elements come before (row, col) if
  //~ // it is stored column by column, each ld elements after the one before it (1 line)?
  //~ return row * static_cast<size_t>(ld) + col;
  //~begin 1
  return row + static_cast<size_t>(col) * ld;
  //~end
}

cublasStatus_t create_handle(cudaStream_t stream, cublasHandle_t* handle) {
  //~ // TODO(2): Create the handle, let its work go to `stream`, and return the first status that is
  //~ // not a success (about 3 lines).
  //~ *handle = nullptr;
  //~ static_cast<void>(stream);
  //~ return CUBLAS_STATUS_NOT_INITIALIZED;
  //~begin 2
  const cublasStatus_t created = cublasCreate(handle);
  if (created != CUBLAS_STATUS_SUCCESS) return created;
  return cublasSetStream(*handle, stream);
  //~end
}

cublasStatus_t launch_sgemm(cublasHandle_t handle, int m, int n, int k, float alpha,
                            const float* d_a, int lda, const float* d_b, int ldb, float beta,
                            float* d_c, int ldc) {
  // Read by columns, the rows of c are the columns of its transpose, and so are those of a and b.
  //~ // TODO(3): Which product of two transposes is the transpose of a b? Let cuBLAS compute that: the
  //~ // order of the operands, and its three sizes, follow from it. Nothing is transposed (2 lines).
  //~ return cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, d_a, lda, d_b, ldb, &beta,
  //~                    d_c, ldc);
  //~begin 3
  return cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &alpha, d_b, ldb, d_a, lda, &beta,
                     d_c, ldc);
  //~end
}
