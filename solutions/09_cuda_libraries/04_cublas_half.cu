// 09/04 cuBLAS, halves: half the bytes and tensor cores, at the price of digits. Which digits?
//   x  n floats, h  n halves: 10 bits of fraction, the largest 65504
//   a  m x k,  b  k x n,  c  m x n, row-major, rows without gaps: all in device memory
//   A half has lost 13 bits of a float as soon as it is stored. What a sum of k products loses on
//   top depends on the type in which it is added up.
//   TODOs  4
#include "04_cublas_half.h"

__global__ void to_half(const float* x, __half* h, size_t n) {
  const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
  for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    //~ // TODO(1): Round to the nearest half, with a function of cuda_fp16.h (1 line).
    //~ h[i] = __float2half_rz(x[i]);
    //~begin 1
    h[i] = __float2half_rn(x[i]);
    //~end
  }
}

void launch_to_half(const float* d_x, __half* d_h, size_t n, cudaStream_t stream) {
  constexpr size_t kBlock = 256, kMostBlocks = 4096;  // threads; the loop does what is left
  if (n == 0) return;
  const size_t blocks = (n + kBlock - 1) / kBlock;
  const auto grid = static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks);
  to_half<<<grid, kBlock, 0, stream>>>(d_x, d_h, n);
}

cublasStatus_t launch_hgemm(cublasHandle_t handle, int m, int n, int k, const __half* d_a,
                            const __half* d_b, __half* d_c) {
  //~ // TODO(2): The product of exercise 01 with cublasHgemm. Of which type are its factors? (2 lines)
  //~ static_cast<void>(m + n + k), static_cast<void>(d_a), static_cast<void>(d_b);
  //~ const __half zero = __float2half(0.0f);
  //~ return cublasHgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, 0, &zero, d_b, n, d_a, 1, &zero, d_c,
  //~                    n);
  //~begin 2
  const __half one = __float2half(1.0f), zero = __float2half(0.0f);
  return cublasHgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, d_b, n, d_a, k, &zero, d_c,
                     n);
  //~end
}

cublasStatus_t launch_gemm_ex(cublasHandle_t handle, int m, int n, int k, const __half* d_a,
                              const __half* d_b, float* d_c) {
  //~ // TODO(3): cublasGemmEx takes a type behind each matrix, and the type of the sums at its end. Say
  //~ // that a and b are halves, and that c and the sums are floats. The factors follow the sums.
  //~ static_cast<void>(m + n + k);
  //~ const __half one = __float2half(1.0f), zero = __float2half(0.0f);
  //~ return cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, d_b, CUDA_R_16F, n, d_a,
  //~                     CUDA_R_16F, k, &zero, d_c, CUDA_R_32F, n, CUBLAS_COMPUTE_16F,
  //~                     CUBLAS_GEMM_DEFAULT);
  //~begin 3
  const float one = 1.0f, zero = 0.0f;
  return cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, d_b, CUDA_R_16F, n, d_a,
                      CUDA_R_16F, k, &zero, d_c, CUDA_R_32F, n, CUBLAS_COMPUTE_32F,
                      CUBLAS_GEMM_DEFAULT);
  //~end
}

cublasStatus_t relative_error(cublasHandle_t handle, int n, float* d_c, const float* d_right,
                              float* error) {
  const float minus_one = -1.0f;
  float length = 0.0f, length_of_error = 0.0f;
  //~ // TODO(4): Here is the length of `right`. Subtract right from c, and take the length of what is
  //~ // left: two of the calls of exercise 02, each with its status read (about 4 lines).
  //~ static_cast<void>(minus_one), static_cast<void>(d_c);
  //~ const cublasStatus_t status = cublasSnrm2(handle, n, d_right, 1, &length);
  //~ length_of_error = length;
  //~begin 4
  cublasStatus_t status = cublasSnrm2(handle, n, d_right, 1, &length);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  status = cublasSaxpy(handle, n, &minus_one, d_right, 1, d_c, 1);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  status = cublasSnrm2(handle, n, d_c, 1, &length_of_error);
  //~end
  *error = length_of_error / length;
  return status;
}
