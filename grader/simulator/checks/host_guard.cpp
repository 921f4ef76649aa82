#include "checks/host_guard.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "memory/device_memory.h"

namespace warplings::sim {
namespace {

uint64_t page_size() {
  static const auto size = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return size;
}

void allow(uint64_t begin, uint64_t end, int protection) {
  mprotect(reinterpret_cast<void*>(begin), end - begin, protection);
}

}  // namespace

void HostGuard::add(const WorkId& id, uint64_t address, uint64_t size, bool host_may_read) {
  Range range;
  range.begin = address / page_size() * page_size();
  range.end = (address + size + page_size() - 1) / page_size() * page_size();
  range.host_may_read = host_may_read;
  std::vector<WorkId>& users = ranges_[range];
  users.push_back(id);
  if (users.size() == 1) apply(range.begin, range.end);
}

// Pages that several ranges cover get the strictest protection. Freed memory stays closed.
void HostGuard::apply(uint64_t begin, uint64_t end) const {
  const Allocation* allocation = DeviceMemory::instance().allocation_at(begin);
  if (allocation == nullptr || allocation->freed) return;
  allow(begin, end, PROT_READ | PROT_WRITE);
  for (const bool may_read : {true, false}) {
    for (const auto& [range, users] : ranges_) {
      const uint64_t low = std::max(begin, range.begin), high = std::min(end, range.end);
      if (range.host_may_read != may_read || low >= high) continue;
      allow(low, high, may_read ? PROT_READ : PROT_NONE);
    }
  }
}

void HostGuard::release(const OrderClock& finished) {
  std::vector<std::pair<uint64_t, uint64_t>> changed;
  for (auto it = ranges_.begin(); it != ranges_.end();) {
    std::erase_if(it->second, [&](const WorkId& id) { return finished.includes(id); });
    if (!it->second.empty()) {
      ++it;
      continue;
    }
    changed.emplace_back(it->first.begin, it->first.end);
    it = ranges_.erase(it);
  }
  for (const auto& [begin, end] : changed) apply(begin, end);
}

void HostGuard::clear() {
  const auto ranges = std::exchange(ranges_, {});
  for (const auto& [range, users] : ranges) apply(range.begin, range.end);
  opened_.clear();
}

bool HostGuard::covers(uint64_t address) const {
  return std::any_of(ranges_.begin(), ranges_.end(), [&](const auto& entry) {
    return address >= entry.first.begin && address < entry.first.end;
  });
}

bool HostGuard::lets_host_read(uint64_t address) const {
  return std::none_of(ranges_.begin(), ranges_.end(), [&](const auto& entry) {
    return address >= entry.first.begin && address < entry.first.end && !entry.first.host_may_read;
  });
}

void HostGuard::open(uint64_t address) {
  const uint64_t page = address / page_size() * page_size();
  opened_.push_back(page);
  allow(page, page + page_size(), PROT_READ | PROT_WRITE);
}

void HostGuard::close_again() {
  for (const uint64_t page : std::exchange(opened_, {})) {
    if (covers(page)) apply(page, page + page_size());
  }
}

}  // namespace warplings::sim
