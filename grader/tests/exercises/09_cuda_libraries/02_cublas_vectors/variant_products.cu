// Matrix products and a kernel where the solution uses sums and steps: a residual as a product with
// one column, the sum times -1 by a kernel of one thread.
#include "02_cublas_vectors.h"

namespace {

__global__ void negate(float* x) { *x = -*x; }

cublasStatus_t in_mode(cublasHandle_t handle, cublasPointerMode_t mode, cublasPointerMode_t* old) {
  const cublasStatus_t status = cublasGetPointerMode(handle, old);
  return status != CUBLAS_STATUS_SUCCESS ? status : cublasSetPointerMode(handle, mode);
}

}  // namespace

cublasStatus_t launch_residual(cublasHandle_t handle, int m, int n, const float* d_a, int lda,
                               const float* d_x, float* d_r) {
  cublasPointerMode_t old;
  cublasStatus_t status = in_mode(handle, CUBLAS_POINTER_MODE_HOST, &old);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  const float minus_one = -1.0f, one = 1.0f;
  status = cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, m, n, &minus_one, d_x, 1, d_a, lda,
                       &one, d_r, 1);
  cublasSetPointerMode(handle, old);
  return status;
}

cublasStatus_t cosine(cublasHandle_t handle, int n, const float* d_x, int incx, const float* d_y,
                      int incy, float* result) {
  cublasPointerMode_t old;
  cublasStatus_t status = in_mode(handle, CUBLAS_POINTER_MODE_HOST, &old);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  float x = 0, y = 0, product = 0;
  status = cublasSnrm2(handle, n, d_x, incx, &x);
  if (status == CUBLAS_STATUS_SUCCESS) status = cublasSnrm2(handle, n, d_y, incy, &y);
  if (status == CUBLAS_STATUS_SUCCESS) {
    status = cublasSdot(handle, n, d_x, incx, d_y, incy, &product);
  }
  cublasSetPointerMode(handle, old);
  *result = x == 0 || y == 0 ? 0 : product / x / y;
  return status;
}

cublasStatus_t launch_remove(cublasHandle_t handle, int n, const float* d_x, float* d_y,
                             float* d_scalar) {
  cublasPointerMode_t old;
  cudaStream_t stream;
  cublasStatus_t status = in_mode(handle, CUBLAS_POINTER_MODE_DEVICE, &old);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  cublasGetStream(handle, &stream);
  status = cublasSdot(handle, n, d_x, 1, d_y, 1, d_scalar);
  if (status == CUBLAS_STATUS_SUCCESS) {
    negate<<<1, 1, 0, stream>>>(d_scalar);
    status = cudaGetLastError() == cudaSuccess ? cublasSaxpy(handle, n, d_scalar, d_x, 1, d_y, 1)
                                               : CUBLAS_STATUS_EXECUTION_FAILED;
  }
  cublasSetPointerMode(handle, old);
  return status;
}
