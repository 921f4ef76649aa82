#include "exec/schedule.h"

#include <algorithm>

#include "core/machine.h"
#include "decode/builtins.h"
#include "decode/program.h"
#include "memory/device_memory.h"

namespace warplings::sim {
namespace {

constexpr uint64_t kMostBytes = 64 << 20;          // of device memory
constexpr uint64_t kMostInstructions = 4'000'000;  // warp instructions of the first run
constexpr int kMostLaunches = 3;                   // of one kernel that are repeated

bool allocates(const LoadedModule& module) {
  return std::any_of(module.calls.begin(), module.calls.end(), [](const CallSite& call) {
    return call.builtin >= 0 && call.builtin != kVprintf && call.builtin != kAssertFail;
  });
}

}  // namespace

RepeatPolicy& RepeatPolicy::instance() { return Machine::get<RepeatPolicy>(); }

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
