#include "runtime/memory_advice.h"

#include "core/machine.h"
#include "memory/device_memory.h"

namespace warplings::sim {
namespace {

uint64_t allocation_id(uint64_t address) {
  const Allocation* allocation = DeviceMemory::instance().allocation_at(address);
  return allocation == nullptr ? 0 : allocation->id;
}

}  // namespace

MemoryAdvices& MemoryAdvices::instance() { return Machine::get<MemoryAdvices>(); }

std::map<uint64_t, MemoryAdvices::Known>::iterator MemoryAdvices::split_at(uint64_t address) {
  const auto after = from_.upper_bound(address);
  const Known before = after == from_.begin() ? Known{} : std::prev(after)->second;
  return from_.try_emplace(address, before).first;
}

void MemoryAdvices::change(uint64_t address, uint64_t size,
                           const std::function<void(MemoryAdvice&)>& how) {
  const uint64_t allocation = allocation_id(address);
  const auto end = split_at(address + size);
  for (auto part = split_at(address); part != end; ++part) {
    if (part->second.allocation != allocation) part->second = {allocation, {}};
    how(part->second.advice);
  }
}

void MemoryAdvices::each(uint64_t address, uint64_t size,
                         const std::function<void(const MemoryAdvice&)>& see) const {
  const uint64_t allocation = allocation_id(address);
  const auto seen = [&](const Known& known) {
    see(known.allocation == allocation ? known.advice : MemoryAdvice{});
  };
  const auto after = from_.upper_bound(address);
  seen(after == from_.begin() ? Known{} : std::prev(after)->second);
  for (auto part = after; part != from_.end() && part->first < address + size; ++part) {
    seen(part->second);
  }
}

}  // namespace warplings::sim
