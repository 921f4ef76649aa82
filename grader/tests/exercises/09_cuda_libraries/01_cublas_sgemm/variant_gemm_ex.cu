// The general form of the product, with types and the precision of the sums as parameters.
#include "01_cublas_sgemm.h"

size_t column_major(int row, int col, int ld) {
  const size_t columns_before = col;
  return columns_before * ld + row;
}

cublasStatus_t create_handle(cudaStream_t stream, cublasHandle_t* handle) {
  cublasStatus_t status = cublasCreate(handle);
  if (status == CUBLAS_STATUS_SUCCESS) {
    status = cublasSetStream(*handle, stream);
  }
  if (status == CUBLAS_STATUS_SUCCESS) {
    status = cublasSetMathMode(*handle, CUBLAS_PEDANTIC_MATH);
  }
  return status;
}

cublasStatus_t launch_sgemm(cublasHandle_t handle, int m, int n, int k, float alpha,
                            const float* d_a, int lda, const float* d_b, int ldb, float beta,
                            float* d_c, int ldc) {
  return cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &alpha, d_b, CUDA_R_32F, ldb, d_a,
                      CUDA_R_32F, lda, &beta, d_c, CUDA_R_32F, ldc, CUBLAS_COMPUTE_32F,
                      CUBLAS_GEMM_DEFAULT);
}
