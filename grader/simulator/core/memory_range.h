// A span of memory that somebody uses.
#ifndef WARPLINGS_SIMULATOR_CORE_MEMORY_RANGE_H_
#define WARPLINGS_SIMULATOR_CORE_MEMORY_RANGE_H_

#include <cstdint>

namespace warplings::sim {

struct MemoryRange {
  uint64_t address = 0, size = 0;
  bool write = false;
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_CORE_MEMORY_RANGE_H_
