// What a program has said about ranges of managed memory: cudaMemAdvise and prefetches. It changes
// nothing here, where host and device have one memory; programs may ask for it.
#ifndef WARPLINGS_SIMULATOR_RUNTIME_MEMORY_ADVICE_H_
#define WARPLINGS_SIMULATOR_RUNTIME_MEMORY_ADVICE_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>

namespace warplings::sim {

struct MemoryAdvice {
  bool read_mostly = false;
  cudaMemLocation preferred{cudaMemLocationTypeInvalid, 0};
  cudaMemLocation prefetched{cudaMemLocationTypeInvalid, 0};
  uint32_t accessed_by = 0;  // a bit for each device; the highest is the host

  static constexpr uint32_t kHost = 1u << 31;
};

class MemoryAdvices {
 public:
  static MemoryAdvices& instance();

  // Changes what is known of [address, address + size), which lies in one allocation.
  void change(uint64_t address, uint64_t size, const std::function<void(MemoryAdvice&)>& how);
  // Calls `see` for each part of the range that has one advice.
  void each(uint64_t address, uint64_t size,
            const std::function<void(const MemoryAdvice&)>& see) const;

 private:
  struct Known {
    uint64_t allocation = 0;  // id; what was said of an earlier one at this address is void
    MemoryAdvice advice;
  };
  std::map<uint64_t, Known>::iterator split_at(uint64_t address);

  std::map<uint64_t, Known> from_;  // what holds from this address on
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_MEMORY_ADVICE_H_
