// Conversion two at a time, half sums through cublasGemmEx, float sums through a batch of one, and
// the length of a difference as the root of its product with itself.
#include <cmath>
#include <cstdint>

#include "04_cublas_half.h"

namespace {

__global__ void to_half_pairs(const float* x, __half* h, size_t n) {
  const size_t i = 2 * (static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x);
  if (i + 1 < n) {
    const __half2 pair = __floats2half2_rn(x[i], x[i + 1]);
    h[i] = __low2half(pair);
    h[i + 1] = __high2half(pair);
  } else if (i < n) {
    h[i] = __float2half(x[i]);
  }
}

}  // namespace

void launch_to_half(const float* d_x, __half* d_h, size_t n, cudaStream_t stream) {
  const auto grid = static_cast<unsigned>((n + 255) / 256);
  if (grid > 0) to_half_pairs<<<grid, 128, 0, stream>>>(d_x, d_h, n);
}

cublasStatus_t launch_hgemm(cublasHandle_t handle, int m, int n, int k, const __half* d_a,
                            const __half* d_b, __half* d_c) {
  const __half one = __float2half(1.0f), zero = __float2half(0.0f);
  return cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, d_b, CUDA_R_16F, n, d_a,
                      CUDA_R_16F, k, &zero, d_c, CUDA_R_16F, n, CUBLAS_COMPUTE_16F,
                      CUBLAS_GEMM_DEFAULT);
}

cublasStatus_t launch_gemm_ex(cublasHandle_t handle, int m, int n, int k, const __half* d_a,
                              const __half* d_b, float* d_c) {
  const float one = 1.0f, zero = 0.0f;
  return cublasGemmStridedBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, d_b,
                                    CUDA_R_16F, n, 0, d_a, CUDA_R_16F, k, 0, &zero, d_c, CUDA_R_32F,
                                    n, 0, 1, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

cublasStatus_t relative_error(cublasHandle_t handle, int n, float* d_c, const float* d_right,
                              float* error) {
  const float minus_one = -1.0f;
  float squares = 0.0f, squares_of_error = 0.0f;
  cublasStatus_t status = cublasSdot(handle, n, d_right, 1, d_right, 1, &squares);
  if (status == CUBLAS_STATUS_SUCCESS) {
    status = cublasSaxpy(handle, n, &minus_one, d_right, 1, d_c, 1);
  }
  if (status == CUBLAS_STATUS_SUCCESS) {
    status = cublasSdot(handle, n, d_c, 1, d_c, 1, &squares_of_error);
  }
  *error = std::sqrt(squares_of_error / squares);
  return status;
}
