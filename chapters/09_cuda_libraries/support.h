// What the tests of chapter 09 share: cuBLAS handles that are destroyed with their scope, and
// statuses as failures of a test.
#ifndef CHAPTERS_09_CUDA_LIBRARIES_SUPPORT_H_
#define CHAPTERS_09_CUDA_LIBRARIES_SUPPORT_H_

#include <cublas_v2.h>

#include <string>

#include "kit/kit.h"
#include "kit/stream.h"

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

// Gives back what a function has made although it failed, as its caller does. False if it has been
// destroyed already.
template <class Made>
bool give_back(cublasStatus_t (*destroy)(Made), Made* handle) {
  const bool was_there = *handle == nullptr || destroy(*handle) == CUBLAS_STATUS_SUCCESS;
  *handle = nullptr;
  return was_there;
}
inline void expect_was_there(const std::string& function, bool was_there,
                             kit::Site site = kit::Site::here()) {
  if (was_there) return;
  kit::fail(
      function +
          " failed after its handle was made. When the caller destroyed that, as the header "
          "says, it had been destroyed already: whoever owns a handle destroys it, and nobody "
          "else.",
      site);
}

// A handle with such a stream.
class StreamHandle {
 public:
  cublasHandle_t get() const { return handle_.get(); }
  cudaStream_t stream() const { return stream_.get(); }

  // Fails the running case if a call has left the handle another one than it was.
  void expect_unchanged(kit::Site site = kit::Site::here()) const {
    cudaStream_t stream = nullptr;
    cublasPointerMode_t mode = CUBLAS_POINTER_MODE_DEVICE;
    cublasMath_t math = CUBLAS_TF32_TENSOR_OP_MATH;
    expect_success("cublasGetStream", cublasGetStream(get(), &stream), site);
    expect_success("cublasGetPointerMode", cublasGetPointerMode(get(), &mode), site);
    expect_success("cublasGetMathMode", cublasGetMathMode(get(), &math), site);
    if (stream == stream_.get() && mode == CUBLAS_POINTER_MODE_HOST &&
        math == CUBLAS_DEFAULT_MATH) {
      return;
    }
    kit::fail(std::string("The handle has another ") +
                  (stream != stream_.get()            ? "stream"
                   : mode != CUBLAS_POINTER_MODE_HOST ? "pointer mode"
                                                      : "math mode") +
                  " than before. A handle is shared: whoever uses it next has asked for no change. "
                  "Use it as it is, or set back what you set.",
              site);
  }

 private:
  kit::Stream stream_;
  Handle handle_{stream_.get()};  // destroyed before its stream is
};

// Simulator only: fails if what the last kit::run ran has waited more than `by_test` times.
inline void expect_no_wait(const std::string& function, uint64_t by_test = 0,
                           kit::Site site = kit::Site::here()) {
  uint64_t waits = 0;
  for (const char* wait :
       {"cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize", "cudaMemcpy"}) {
    waits += kit::api_calls(wait);
  }
  if (waits <= by_test) return;
  kit::report_class_problem();  // it names the line
  kit::fail(function +
                " waits for the device. All of its work is in one stream, which keeps the order; "
                "a host that waits has nothing ready when the stream runs empty.",
            site);
}

// Fails if a function has returned a success for arguments that cuBLAS refuses.
inline void expect_refusal(const std::string& function, cublasStatus_t status,
                           kit::Site site = kit::Site::here()) {
  if (status != CUBLAS_STATUS_SUCCESS) return;
  kit::fail(function +
                " returned a success for a call that cuBLAS refuses. The status that the call "
                "returns is the only place that says so: hand it on.",
            site);
}

#endif  // CHAPTERS_09_CUDA_LIBRARIES_SUPPORT_H_
