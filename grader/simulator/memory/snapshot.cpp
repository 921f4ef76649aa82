#include "memory/snapshot.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace warplings::sim {
namespace {

char* bytes_of(const Allocation& allocation) {
  return reinterpret_cast<char*>(DeviceMemory::instance().view(allocation.start));
}

// The shadow has a bit per byte; allocations begin at multiples of 64 bytes.
char* shadow_of(const Allocation& allocation) {
  return reinterpret_cast<char*>(DeviceMemory::instance().undefined_bits()) +
         DeviceMemory::offset_of(allocation.start) / 8;
}

}  // namespace

std::vector<Allocation> all_allocations() {
  std::vector<Allocation> all = DeviceMemory::instance().live();
  for (Allocation& variable : DeviceMemory::instance().module_variables()) {
    all.push_back(std::move(variable));
  }
  return all;
}

MemorySnapshot::MemorySnapshot() {
  for (Allocation& allocation : all_allocations()) {
    std::string bytes(bytes_of(allocation), allocation.size);
    std::string undefined(shadow_of(allocation), (allocation.size + 7) / 8);
    parts_.push_back({std::move(allocation), std::move(bytes), std::move(undefined)});
  }
}

void MemorySnapshot::restore() const {
  for (const Part& part : parts_) {
    std::memcpy(bytes_of(part.allocation), part.bytes.data(), part.bytes.size());
    std::memcpy(shadow_of(part.allocation), part.undefined.data(), part.undefined.size());
  }
}

bool MemorySnapshot::is_current() const {
  return std::all_of(parts_.begin(), parts_.end(), [](const Part& part) {
    return std::memcmp(bytes_of(part.allocation), part.bytes.data(), part.bytes.size()) == 0 &&
           std::memcmp(shadow_of(part.allocation), part.undefined.data(), part.undefined.size()) ==
               0;
  });
}

}  // namespace warplings::sim
