// CUB's device-wide algorithms. Working memory is kept from call to call and grows when it must.
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include "kit/libraries/entry_points.h"

namespace {

class WorkingMemory {
 public:
  ~WorkingMemory() { cudaFree(data_); }

  // Calls `algorithm` with its working memory; it is called once more before, to ask for the size.
  template <class Algorithm>
  const char* run(const Algorithm& algorithm) {
    size_t bytes = 0;
    cudaError_t error = algorithm(nullptr, bytes);
    if (error == cudaSuccess && bytes > bytes_) error = grow(bytes);
    if (error == cudaSuccess) error = algorithm(data_, bytes);
    return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
  }

 private:
  cudaError_t grow(size_t bytes) {
    cudaFree(data_);
    data_ = nullptr;
    const cudaError_t error = cudaMalloc(&data_, bytes);
    bytes_ = error == cudaSuccess ? bytes : 0;
    return error;
  }

  void* data_ = nullptr;
  size_t bytes_ = 0;
};

WorkingMemory& working_memory() {
  static WorkingMemory memory;
  return memory;
}

}  // namespace

const char* warplings_cub_sum(const float* in, float* out, size_t n) {
  return working_memory().run(
      [=](void* data, size_t& bytes) { return cub::DeviceReduce::Sum(data, bytes, in, out, n); });
}

const char* warplings_cub_inclusive_sum(const float* in, float* out, size_t n) {
  return working_memory().run([=](void* data, size_t& bytes) {
    return cub::DeviceScan::InclusiveSum(data, bytes, in, out, n);
  });
}

const char* warplings_cub_exclusive_sum(const float* in, float* out, size_t n) {
  return working_memory().run([=](void* data, size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(data, bytes, in, out, n);
  });
}

const char* warplings_cub_histogram(const uint8_t* in, unsigned* counts, size_t n) {
  return working_memory().run([=](void* data, size_t& bytes) {
    return cub::DeviceHistogram::HistogramEven(data, bytes, in, counts, 257, 0, 256, n);
  });
}
