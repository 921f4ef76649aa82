// What the tests of chapter 09 share: a cuBLAS handle that is destroyed with its scope, and
// statuses as failures of a test.
#ifndef CHAPTERS_09_CUDA_LIBRARIES_SUPPORT_H_
#define CHAPTERS_09_CUDA_LIBRARIES_SUPPORT_H_

#include <cublas_v2.h>

#include <string>

#include "kit/kit.h"

// Fails the running case if `function` has not returned a success.
inline void expect_success(const std::string& function, cublasStatus_t status,
                           kit::Site site = kit::Site::here()) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  kit::fail(function + " returned " + cublasGetStatusName(status) + ".", site);
}

// A handle of the test's own: learners' functions get one as a parameter. Host pointer mode, as
// cublasCreate makes it; work goes to `stream`.
class Handle {
 public:
  explicit Handle(cudaStream_t stream = nullptr) {
    expect_success("cublasCreate", cublasCreate(&handle_));
    expect_success("cublasSetStream", cublasSetStream(handle_, stream));
  }
  ~Handle() { cublasDestroy(handle_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  cublasHandle_t get() const { return handle_; }

 private:
  cublasHandle_t handle_ = nullptr;
};

#endif  // CHAPTERS_09_CUDA_LIBRARIES_SUPPORT_H_
