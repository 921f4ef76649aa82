// 09/02 cuBLAS, vectors: sums over vectors, and where a scalar lies.
//   x, y  vectors of n floats,  a  an m x n matrix, row-major: all in device memory
//   alpha, beta and results of cuBLAS are pointers, because they may lie in host or in device
//   memory: the pointer mode of the handle says which. A result for the host has to be waited for.
//   Return the first status that is not a success: first_failure({call, call, ...}).
//   TODOs  3
#include <initializer_list>

#include "02_cublas_vectors.h"

namespace {

// Calls in braces are made from left to right.
cublasStatus_t first_failure(std::initializer_list<cublasStatus_t> statuses) {
  for (const cublasStatus_t status : statuses) {
    if (status != CUBLAS_STATUS_SUCCESS) return status;
  }
  return CUBLAS_STATUS_SUCCESS;
}

// The handle has this pointer mode until the end of the scope, then its old one: other code uses
// it.
class PointerMode {
 public:
  PointerMode(cublasHandle_t handle, cublasPointerMode_t mode) : handle_(handle) {
    cublasGetPointerMode(handle_, &before_);
    cublasSetPointerMode(handle_, mode);
  }
  ~PointerMode() { cublasSetPointerMode(handle_, before_); }
  PointerMode(const PointerMode&) = delete;
  PointerMode& operator=(const PointerMode&) = delete;

 private:
  cublasHandle_t handle_;
  cublasPointerMode_t before_ = CUBLAS_POINTER_MODE_HOST;
};

}  // namespace

cublasStatus_t launch_residual(cublasHandle_t handle, int m, int n, const float* d_a, int lda,
                               const float* d_x, float* d_r) {
  const PointerMode mode(handle, CUBLAS_POINTER_MODE_HOST);
  const float minus_one = -1.0f, one = 1.0f;
  // TODO(1): r = -1 a x + 1 r with cublasSgemv. Which matrix does cuBLAS read at d_a, with how
  // many rows and columns, and what does it have to do to it? (1 call)
  return cublasSgemv(handle, CUBLAS_OP_N, m, n, &minus_one, d_a, lda, d_x, 1, &one, d_r, 1);
}

cublasStatus_t cosine(cublasHandle_t handle, int n, const float* d_x, int incx, const float* d_y,
                      int incy, float* result) {
  const PointerMode mode(handle, CUBLAS_POINTER_MODE_HOST);
  float product = 0.0f, length_x = 0.0f, length_y = 0.0f;
  // TODO(2): Here is the sum of x[i] y[i]. The lengths of x and of y as well, with cublasSnrm2.
  // Each call waits for its result (2 more calls).
  const cublasStatus_t status =
      first_failure({cublasSdot(handle, n, d_x, incx, d_y, incy, &product)});
  const bool defined = length_x > 0.0f && length_y > 0.0f;
  *result = defined ? product / length_x / length_y : 0.0f;
  return status;
}

cublasStatus_t launch_remove(cublasHandle_t handle, int n, const float* d_x, float* d_y,
                             float* d_scalar) {
  const float minus_one = -1.0f;
  // TODO(3): d_scalar = x y, d_scalar = -d_scalar, y += d_scalar x. The host never sees the sum, but
  // minus_one lies on the host: each call in a scope with its pointer mode (about 8 lines).
  static_cast<void>(d_scalar);
  return cublasSaxpy(handle, n, &minus_one, d_x, 1, d_y, 1);
}
