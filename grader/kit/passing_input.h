// Host data that a caller hands over and uses for something else as soon as the call has returned.
// It lies in pinned memory, where an asynchronous copy reads it whenever its turn comes: of
// pageable memory it would have taken a copy first.
//
//   kit::PassingInput<float> x(values);
//   kit::run("x in pinned memory, overwritten as soon as the call has returned",
//            [&] { x.lend([&](const float* h_x) { launch(h_x, d_y.get(), n); }); });
#ifndef WARPLINGS_KIT_PASSING_INPUT_H_
#define WARPLINGS_KIT_PASSING_INPUT_H_

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "kit/kit.h"

namespace kit {

template <class T>
class PassingInput {
 public:
  explicit PassingInput(const std::vector<T>& values) : values_(values) {
    void* memory = nullptr;
    if (cudaMallocHost(&memory, bytes()) != cudaSuccess) {
      cudaGetLastError();
      fail("cudaMallocHost of " + std::to_string(bytes()) + " bytes failed.");
      return;
    }
    host_ = static_cast<T*>(memory);
  }
  ~PassingInput() {
    if (host_ != nullptr) cudaFreeHost(host_);
  }
  PassingInput(const PassingInput&) = delete;
  PassingInput& operator=(const PassingInput&) = delete;

  // Calls call(values), and overwrites them right behind it. kit::run may do that several times: it
  // waits for the device in between.
  template <class Call>
  void lend(const Call& call) {
    if (host_ == nullptr) return;
    std::copy(values_.begin(), values_.end(), host_);
    call(static_cast<const T*>(host_));
    std::memset(host_, 0xFF, bytes());
  }

 private:
  size_t bytes() const { return values_.size() * sizeof(T); }

  std::vector<T> values_;
  T* host_ = nullptr;
};

}  // namespace kit

#endif  // WARPLINGS_KIT_PASSING_INPUT_H_
