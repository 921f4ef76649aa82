// 09/04 cuBLAS, halves: half the bytes and tensor cores, at the price of digits. Which digits?
//   x  n floats, h  n halves: 10 bits of fraction, the largest 65504
//   a  m x k,  b  k x n,  c  m x n, row-major, rows without gaps: all in device memory
//   A half has lost 13 bits of a float as soon as it is stored. What a sum of k products loses on
//   top depends on the type in which it is added up.
//   TODOs  4
#include "04_cublas_half.h"

__global__ void to_half(const float* x, __half* h, size_t n) {
  //~ // TODO(1): Each h[i] is the half that is nearest to x[i], whatever n and the grid are
  //~ // (a function of cuda_fp16.h rounds). The launch below is yours too.
  //~ static_cast<void>(x), static_cast<void>(h), static_cast<void>(n);
  //~begin 1
  const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
  for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    h[i] = __float2half_rn(x[i]);
  }
  //~end
}

void launch_to_half(const float* d_x, __half* d_h, size_t n, cudaStream_t stream) {
  //~ static_cast<void>(d_x), static_cast<void>(d_h), static_cast<void>(n);
  //~ static_cast<void>(stream);
  //~begin 1
  constexpr size_t kBlock = 256, kMostBlocks = 4096;  // threads; the loop does what is left
  if (n == 0) return;
  const size_t blocks = (n + kBlock - 1) / kBlock;
  const auto grid = static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks);
  to_half<<<grid, kBlock, 0, stream>>>(d_x, d_h, n);
  //~end
}

cublasStatus_t launch_hgemm(cublasHandle_t handle, int m, int n, int k, const __half* d_a,
                            const __half* d_b, __half* d_c) {
  //~ // TODO(2): c = a b, in halves throughout. Of which type are the factors?
  //~ static_cast<void>(handle), static_cast<void>(m + n + k), static_cast<void>(d_a);
  //~ static_cast<void>(d_b), static_cast<void>(d_c);
  //~ return CUBLAS_STATUS_NOT_INITIALIZED;
  //~begin 2
  const __half one = __float2half(1.0f), zero = __float2half(0.0f);
  return cublasHgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, d_b, n, d_a, k, &zero, d_c,
                     n);
  //~end
}

cublasStatus_t launch_gemm_ex(cublasHandle_t handle, int m, int n, int k, const __half* d_a,
                              const __half* d_b, float* d_c) {
  //~ // TODO(3): c = a b: halves are read, sums and results are floats. The type of the
  //~ // factors is in the table of cublasGemmEx.
  //~ static_cast<void>(handle), static_cast<void>(m + n + k), static_cast<void>(d_a);
  //~ static_cast<void>(d_b), static_cast<void>(d_c);
  //~ return CUBLAS_STATUS_NOT_INITIALIZED;
  //~begin 3
  const float one = 1.0f, zero = 0.0f;
  return cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, d_b, CUDA_R_16F, n, d_a,
                      CUDA_R_16F, k, &zero, d_c, CUDA_R_32F, n, CUBLAS_COMPUTE_32F,
                      CUBLAS_GEMM_DEFAULT);
  //~end
}

cublasStatus_t relative_error(cublasHandle_t handle, int n, float* d_c, const float* d_right,
                              float* error) {
  //~ // TODO(4): *error = |c - right| / |right|; d_c may be overwritten. The first failure is
  //~ // returned.
  //~ static_cast<void>(handle), static_cast<void>(n), static_cast<void>(d_c);
  //~ static_cast<void>(d_right);
  //~ *error = 1.0f;
  //~ return CUBLAS_STATUS_NOT_INITIALIZED;
  //~begin 4
  const float minus_one = -1.0f;
  float length = 0.0f, length_of_error = 0.0f;
  cublasStatus_t status = cublasSnrm2(handle, n, d_right, 1, &length);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  status = cublasSaxpy(handle, n, &minus_one, d_right, 1, d_c, 1);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  status = cublasSnrm2(handle, n, d_c, 1, &length_of_error);
  *error = length_of_error / length;
  return status;
  //~end
}
