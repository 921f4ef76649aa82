#include "exec/schedule.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "decode/builtins.h"
#include "decode/program.h"

namespace warplings::sim {
namespace {

constexpr uint64_t kMostBytes = 64 << 20;          // of device memory
constexpr uint64_t kMostInstructions = 4'000'000;  // warp instructions of the first run
constexpr int kMostLaunches = 3;                   // of one kernel that are repeated

std::vector<Allocation> all_allocations() {
  std::vector<Allocation> all = DeviceMemory::instance().live();
  for (Allocation& variable : DeviceMemory::instance().module_variables()) {
    all.push_back(std::move(variable));
  }
  return all;
}

// The shadow has a bit per byte; allocations begin at multiples of 64 bytes.
uint8_t* shadow_of(const Allocation& allocation) {
  const uint64_t first = (allocation.start - DeviceMemory::kBase) / 8;
  return reinterpret_cast<uint8_t*>(DeviceMemory::instance().undefined_bits()) + first;
}
size_t shadow_bytes(const Allocation& allocation) { return (allocation.size + 7) / 8; }

bool allocates(const LoadedModule& module) {
  return std::any_of(module.calls.begin(), module.calls.end(), [](const CallSite& call) {
    return call.builtin >= 0 && call.builtin != kVprintf && call.builtin != kAssertFail;
  });
}

}  // namespace

std::optional<Schedule> order_named(const char* name) {
  const std::string_view text = name == nullptr ? "" : name;
  if (text == "forward") return Schedule::kForward;
  if (text == "reversed") return Schedule::kReversed;
  if (text == "turns") return Schedule::kRoundRobin;
  return std::nullopt;
}

MemoryImage::MemoryImage() {
  for (Allocation& allocation : all_allocations()) {
    const char* bytes =
        reinterpret_cast<const char*>(DeviceMemory::instance().view(allocation.start));
    std::string content(bytes, allocation.size);
    content.append(reinterpret_cast<const char*>(shadow_of(allocation)), shadow_bytes(allocation));
    parts_.emplace_back(std::move(allocation), std::move(content));
  }
}

void MemoryImage::restore() const {
  for (const auto& [allocation, content] : parts_) {
    std::memcpy(DeviceMemory::instance().view(allocation.start), content.data(), allocation.size);
    std::memcpy(shadow_of(allocation), content.data() + allocation.size, shadow_bytes(allocation));
  }
}

RepeatPolicy& RepeatPolicy::instance() {
  static RepeatPolicy* const policy = new RepeatPolicy();
  return *policy;
}

bool RepeatPolicy::wants_image(const Kernel& kernel, const LaunchConfig& config) const {
  const Function& function = kernel.module->functions[kernel.function];
  const auto repeated = repeated_.find(&kernel);
  return engine_options().checks && !engine_options().order && function.global_strong &&
         function.orders_blocks && config.grid.count() > 1 && !allocates(*kernel.module) &&
         (repeated == repeated_.end() || repeated->second < kMostLaunches) &&
         DeviceMemory::instance().bytes_in_use() <= kMostBytes &&
         !DeviceMemory::instance().has_sparse();
}

bool RepeatPolicy::wants_repeats(const Kernel& kernel, uint64_t warp_instructions) {
  ++repeated_[&kernel];
  return warp_instructions <= kMostInstructions;
}

}  // namespace warplings::sim
