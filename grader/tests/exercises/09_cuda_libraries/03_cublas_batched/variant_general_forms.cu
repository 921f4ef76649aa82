// The general forms, with types as parameters; pointers by a block of one warp that goes round.
#include "03_cublas_batched.h"

namespace {

__global__ void addresses(Products products, const float* a, const float* b, const int* which,
                          float* c, size_t size_a, size_t size_b, size_t size_c, int batch) {
  for (int z = threadIdx.x; z < batch; z += blockDim.x) {
    products.c[z] = c + z * size_c;
    products.b[z] = b + which[z] * size_b;
    products.a[z] = a + z * size_a;
  }
}

size_t area(int rows, int cols) { return static_cast<size_t>(rows) * cols; }

}  // namespace

cublasStatus_t launch_strided(cublasHandle_t handle, int m, int n, int k, const float* d_a,
                              long long stride_a, const float* d_b, long long stride_b, float* d_c,
                              long long stride_c, int batch) {
  const float one = 1, zero = 0;
  return cublasGemmStridedBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, d_b,
                                    CUDA_R_32F, n, stride_b, d_a, CUDA_R_32F, k, stride_a, &zero,
                                    d_c, CUDA_R_32F, n, stride_c, batch, CUBLAS_COMPUTE_32F,
                                    CUBLAS_GEMM_DEFAULT);
}

cublasStatus_t launch_chosen(cublasHandle_t handle, int m, int n, int k, const float* d_a,
                             const float* d_b, const int* d_which, float* d_c, int batch,
                             const Products& products) {
  const float one = 1, zero = 0;
  cudaStream_t stream;
  const cublasStatus_t status = cublasGetStream(handle, &stream);
  if (status != CUBLAS_STATUS_SUCCESS || batch == 0) return status;
  addresses<<<1, 32, 0, stream>>>(products, d_a, d_b, d_which, d_c, area(m, k), area(k, n),
                                  area(m, n), batch);
  if (cudaGetLastError() != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
  return cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, products.b, n,
                            products.a, k, &zero, products.c, n, batch);
}
