// What the conformance programs share. Each calls one library in every way that the course does,
// and prints status codes and whether results are right: the same lines with the vendor's library
// on a GPU and with ours in the simulator. NAME_h200.txt is what the vendor's printed.
#ifndef WARPLINGS_TESTS_CONFORMANCE_CONFORMANCE_H_
#define WARPLINGS_TESTS_CONFORMANCE_CONFORMANCE_H_

#include <cuda_runtime_api.h>

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

namespace conformance {

inline void require(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::printf("CUDA error %d: %s\n", static_cast<int>(error), cudaGetErrorString(error));
  std::exit(1);
}

// "name: 0"
inline void status(const char* name, int code) { std::printf("%s: %d\n", name, code); }

// "name: right", or how far it is from right.
inline void right(const char* name, double error, double tolerance) {
  if (error <= tolerance) {
    std::printf("%s: right\n", name);
  } else {
    std::printf("%s: error %.3g, tolerated %.3g\n", name, error, tolerance);
  }
}

// `count` elements on the device.
template <class T>
class Device {
 public:
  explicit Device(size_t count) : count_(count) {
    require(cudaMalloc(reinterpret_cast<void**>(&data_), (count + 1) * sizeof(T)));
    require(cudaMemset(data_, 0, (count + 1) * sizeof(T)));
    require(cudaDeviceSynchronize());  // calls may run in other streams
  }
  explicit Device(const std::vector<T>& values) : Device(values.size()) { set(values); }
  ~Device() { cudaFree(data_); }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  T* get() const { return data_; }
  void set(const std::vector<T>& values) {
    require(cudaMemcpy(data_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  std::vector<T> host() const {
    std::vector<T> values(count_);
    require(cudaMemcpy(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  size_t count_;
  T* data_ = nullptr;
};

// Uniform in [-1, 1), the same everywhere.
inline std::vector<float> random_floats(size_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<float> values(count);
  for (float& value : values) {
    value = static_cast<float>(engine() >> 8) * (2.0F / 16777216.0F) - 1.0F;
  }
  return values;
}

// |got - want| / |want|, over all elements.
template <class A, class B>
double relative_error(const std::vector<A>& got, const std::vector<B>& want) {
  double difference = 0, size = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    difference += std::norm(std::complex<double>(got[i]) - std::complex<double>(want[i]));
    size += std::norm(std::complex<double>(want[i]));
  }
  const double error = std::sqrt(difference / (size > 0 ? size : 1));
  return std::isfinite(error) ? error : HUGE_VAL;
}

}  // namespace conformance

#endif  // WARPLINGS_TESTS_CONFORMANCE_CONFORMANCE_H_
