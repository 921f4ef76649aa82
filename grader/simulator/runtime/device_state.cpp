#include "runtime/device_state.h"

#include <map>

#include "memory/device_memory.h"

namespace warplings::sim {
namespace {

// Only allocations of other devices than 0.
std::map<uint64_t, int>& owners() {
  static auto* const map = new std::map<uint64_t, int>();
  return *map;
}

}  // namespace

int& current_device() {
  thread_local int device = 0;
  return device;
}

void remember_device_of(uint64_t address) {
  if (current_device() != 0) owners()[address] = current_device();
}

int device_of(uint64_t address) {
  const Allocation* allocation = DeviceMemory::instance().allocation_at(address);
  if (allocation == nullptr) return 0;
  const auto found = owners().find(allocation->start);
  return found == owners().end() ? 0 : found->second;
}

}  // namespace warplings::sim
