// cuBLAS, which is column-major: a row-major matrix is its own transpose there.
#include <cublas_v2.h>

#include "kit/libraries/entry_points.h"

namespace {

cublasHandle_t make_handle(cublasMath_t mode) {
  cublasHandle_t fresh = nullptr;
  if (cublasCreate(&fresh) != CUBLAS_STATUS_SUCCESS) return cublasHandle_t{};
  cublasSetMathMode(fresh, mode);
  return fresh;
}

// One handle for the program; it ends with it.
cublasHandle_t handle() {
  static const cublasHandle_t made = make_handle(CUBLAS_PEDANTIC_MATH);
  return made;
}

// Another one for narrow inputs: the pedantic mode may keep them from the tensor cores.
cublasHandle_t handle_of_tensor_cores() {
  static const cublasHandle_t made = make_handle(CUBLAS_DEFAULT_MATH);
  return made;
}

const char* text(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS ? nullptr : cublasGetStatusString(status);
}

constexpr float kOne = 1, kZero = 0;

}  // namespace

const char* warplings_cublas_transpose(const float* in, float* out, int rows, int cols) {
  // Column-major, `in` is (cols, rows) with leading dimension cols.
  return text(cublasSgeam(handle(), CUBLAS_OP_T, CUBLAS_OP_N, rows, cols, &kOne, in, cols, &kZero,
                          out, rows, out, rows));
}

const char* warplings_cublas_sgemm(const float* a, const float* b, float* c, int m, int n, int k) {
  // c^T = b^T a^T.
  return text(
      cublasSgemm(handle(), CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &kOne, b, n, a, k, &kZero, c, n));
}

const char* warplings_cublas_bf16(const uint16_t* a, const uint16_t* b, float* c, int m, int n,
                                  int k) {
  return text(cublasGemmEx(handle_of_tensor_cores(), CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &kOne, b,
                           CUDA_R_16BF, n, a, CUDA_R_16BF, k, &kZero, c, CUDA_R_32F, n,
                           CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
}
