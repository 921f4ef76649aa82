// What a program knows of an allocation: the part between its red zones. For messages.
#ifndef WARPLINGS_SIMULATOR_MEMORY_PAYLOAD_H_
#define WARPLINGS_SIMULATOR_MEMORY_PAYLOAD_H_

#include <cstdint>
#include <utility>

#include "memory/device_memory.h"

namespace warplings::sim {

// First address, and one past the last.
inline std::pair<uint64_t, uint64_t> payload(const Allocation& allocation) {
  if (!allocation.has_red_zones) return {allocation.start, allocation.end()};
  const uint64_t* red = DeviceMemory::instance().red_bits();
  const auto is_red = [&](uint64_t address) {
    const uint64_t bit = DeviceMemory::offset_of(address);
    return (red[bit >> 6] >> (bit & 63)) & 1;
  };
  uint64_t low = allocation.start, high = allocation.end();
  while (low < high && is_red(low)) ++low;
  while (high > low && is_red(high - 1)) --high;
  return {low, high};
}

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_MEMORY_PAYLOAD_H_
