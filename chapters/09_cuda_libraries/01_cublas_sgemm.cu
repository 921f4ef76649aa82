// 09/01 cuBLAS, products: c = alpha a b + beta c, by a library whose matrices are column-major.
//   a  m x k,  b  k x n,  c  m x n: floats, row-major, in device memory; any size, also 0
//   Row i of a begins lda floats after row i - 1: its leading dimension, at least k. ldb and ldc
//   the same. What lies between the rows is not ours.
//   TODOs  3
#include "01_cublas_sgemm.h"

size_t column_major(int row, int col, int ld) {
  // TODO(1): How many elements come before (row, col)? This counts them where the rows
  // lie one after the other; here the columns do.
  return row * static_cast<size_t>(ld) + col;
}

cublasStatus_t create_handle(cudaStream_t stream, cublasHandle_t* handle) {
  // TODO(2): A handle must exist, and its work belong to `stream`. What fails first is
  // what the caller hears.
  *handle = nullptr;
  static_cast<void>(stream);
  return CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t launch_sgemm(cublasHandle_t handle, int m, int n, int k, float alpha,
                            const float* d_a, int lda, const float* d_b, int ldb, float beta,
                            float* d_c, int ldc) {
  // TODO(3): c must be a b, row-major, without moving anything. This passes our sizes and
  // operands in the order in which we name them, and cuBLAS is content. What has it
  // multiplied?
  return cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, d_a, lda, d_b, ldb, &beta,
                     d_c, ldc);
}
