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
  // TODO(1): r must become r - a x, whatever pointer mode the caller has set. Which
  // matrix does cuBLAS see at d_a?
  static_cast<void>(handle), static_cast<void>(m + n + lda), static_cast<void>(d_a);
  static_cast<void>(d_x), static_cast<void>(d_r);
  return CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t cosine(cublasHandle_t handle, int n, const float* d_x, int incx, const float* d_y,
                      int incy, float* result) {
  // TODO(2): *result must be the cosine, on the host, and 0 where a vector has no length.
  // The square of a length may be more than a float can hold.
  static_cast<void>(n + incx + incy), static_cast<void>(d_x), static_cast<void>(d_y);
  *result = 0.0f;
  return first_failure({CUBLAS_STATUS_NOT_INITIALIZED});
}

cublasStatus_t launch_remove(cublasHandle_t handle, int n, const float* d_x, float* d_y,
                             float* d_scalar) {
  // TODO(3): y must lose what points along x. The host never waits, so it never sees the
  // sum; the handle keeps its pointer mode; the first failure is returned.
  static_cast<void>(handle), static_cast<void>(n), static_cast<void>(d_x);
  static_cast<void>(d_y), static_cast<void>(d_scalar);
  return CUBLAS_STATUS_NOT_INITIALIZED;
}
