// What the tests of the cuDNN exercises (07 to 11, 18) share: a handle with a stream of its own,
// statuses as failures of a test, and calls that wait.
#ifndef CHAPTERS_09_CUDA_LIBRARIES_TEST_CUDNN_H_
#define CHAPTERS_09_CUDA_LIBRARIES_TEST_CUDNN_H_

#include <cuda_fp16.h>
#include <cudnn.h>

#include <string>
#include <vector>

#include "kit/kit.h"

// Fails the running case if `function` has not returned a success.
inline void expect_success(const std::string& function, cudnnStatus_t status,
                           kit::Site site = kit::Site::here()) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  kit::fail(function + " returned " + cudnnGetErrorString(status) + ".", site);
}

// Fails the running case if `function` has returned a success for what cuDNN refuses.
inline void expect_refusal(const std::string& function, cudnnStatus_t status,
                           kit::Site site = kit::Site::here()) {
  if (status != CUDNN_STATUS_SUCCESS) return;
  kit::fail(function +
                " returned a success for a layer that cuDNN refuses. The status that the call "
                "returns is the only place that says so: hand it on.",
            site);
}

// Simulator only: fails if what the last kit::run ran has waited for the device.
inline void expect_no_wait(const std::string& function, kit::Site site = kit::Site::here()) {
  for (const char* wait :
       {"cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize", "cudaMemcpy"}) {
    if (kit::api_calls(wait) == 0) continue;
    kit::report_class_problem();  // it names the line
    kit::fail(function + " waits for the device, by " + wait +
                  ". Its work is in the stream of the handle, which keeps the order; a host that "
                  "waits has nothing ready when the stream runs empty.",
              site);
    return;
  }
}

// Fails with the first number of a description that is not as expected: "x: its rows are 4,
// expected 7." `names` has a name for each number.
inline void expect_settings(const std::string& whose, const std::vector<std::string>& names,
                            const std::vector<int>& got, const std::vector<int>& expected,
                            kit::Site site = kit::Site::here()) {
  for (size_t i = 0; i < expected.size(); ++i) {
    if (got[i] == expected[i]) continue;
    kit::fail(whose + ": " + names[i] + " is " + std::to_string(got[i]) + ", expected " +
                  std::to_string(expected[i]) + ".",
              site);
    return;
  }
}

inline std::vector<__half> halves(const std::vector<float>& values) {
  std::vector<__half> result;
  for (const float value : values) result.push_back(__float2half(value));
  return result;
}
inline std::vector<float> floats(const std::vector<__half>& values) {
  std::vector<float> result;
  for (const __half value : values) result.push_back(__half2float(value));
  return result;
}

// A handle, and a stream that waits for no other.
class CudnnHandle {
 public:
  CudnnHandle() {
    cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking);
    expect_success("cudnnCreate", cudnnCreate(&handle_));
    expect_success("cudnnSetStream", cudnnSetStream(handle_, stream_));
  }
  ~CudnnHandle() {
    cudnnDestroy(handle_);
    cudaStreamDestroy(stream_);
  }
  CudnnHandle(const CudnnHandle&) = delete;
  CudnnHandle& operator=(const CudnnHandle&) = delete;
  cudnnHandle_t get() const { return handle_; }
  cudaStream_t stream() const { return stream_; }

  // Fails the running case if a call has left the handle with another stream.
  void expect_unchanged(kit::Site site = kit::Site::here()) const {
    cudaStream_t stream = nullptr;
    expect_success("cudnnGetStream", cudnnGetStream(handle_, &stream), site);
    if (stream == stream_) return;
    kit::fail(
        "The handle has another stream than before. A handle is shared: whoever uses it next has "
        "asked for no change.",
        site);
  }

 private:
  cudnnHandle_t handle_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

#endif  // CHAPTERS_09_CUDA_LIBRARIES_TEST_CUDNN_H_
