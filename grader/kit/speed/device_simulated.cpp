#include <cuda_bf16.h>
#include <cuda_runtime_api.h>
#include <warplings/sim.h>

#include "kit/speed/device.h"

namespace kit::internal {

void fill(Element element, void* data, size_t n, const Values& values, uint64_t key) {
  with_type(element, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    std::vector<T> host(n);
    for (size_t i = 0; i < n; ++i) host[i] = static_cast<T>(value_at(values, key, i));
    cudaMemcpy(data, host.data(), n * sizeof(T), cudaMemcpyHostToDevice);
  });
}

uint64_t count_changed(Element element, const void* data, size_t n, const Values& values,
                       uint64_t key) {
  return with_type(element, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    std::vector<T> host(n);
    cudaMemcpy(host.data(), data, n * sizeof(T), cudaMemcpyDeviceToHost);
    uint64_t count = 0;
    for (size_t i = 0; i < n; ++i) {
      count += !(host[i] == static_cast<T>(value_at(values, key, i)));
    }
    return count;
  });
}

std::vector<double> gather(Element element, const void* data,
                           const std::vector<size_t>& positions) {
  std::vector<double> found;
  with_type(element, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    for (const size_t i : positions) {
      const T* at = static_cast<const T*>(data) + i;
      uint8_t written[sizeof(T)];
      wsim_query_written(at, sizeof(T), written);
      T value{};
      // Copying out what nothing has written is a finding of its own; here it is the poison.
      wsim_mark_written(at, sizeof(T));
      cudaMemcpy(&value, at, sizeof(T), cudaMemcpyDeviceToHost);
      found.push_back(static_cast<double>(value));
    }
  });
  return found;
}

}  // namespace kit::internal
