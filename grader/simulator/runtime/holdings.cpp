#include "runtime/holdings.h"

#include "core/machine.h"
#include "memory/device_memory.h"
#include "runtime/capture.h"
#include "runtime/device_model.h"
#include "runtime/device_state.h"
#include "runtime/graph.h"
#include "runtime/registered_memory.h"
#include "warplings/library.h"

namespace warplings::sim {
namespace {

const char* name_of(AllocationKind kind) {
  switch (kind) {
    case AllocationKind::kManaged:
      return "allocation of managed memory";
    case AllocationKind::kHostPinned:
      return "allocation of pinned memory";
    default:
      return "allocation of device memory";
  }
}

}  // namespace

Holdings& Holdings::instance() { return Machine::get<Holdings>(); }

void Holdings::change(const std::string& what, int64_t by) {
  const std::lock_guard lock(mutex_);
  counts_[what] += by;
}

void Holdings::set_mode(const std::string& what, const void* object, int64_t value) {
  const std::lock_guard lock(mutex_);
  modes_[{what, object}] = value;
}

void Holdings::forget_modes(const void* object) {
  const std::lock_guard lock(mutex_);
  std::erase_if(modes_, [object](const auto& mode) { return mode.first.second == object; });
}

std::vector<Holding> Holdings::list() const {
  note_limits();
  std::map<std::string, int64_t> counts;
  for (const Allocation& allocation : DeviceMemory::instance().live()) {
    ++counts[name_of(allocation.kind)];
  }
  counts["range of registered host memory"] =
      static_cast<int64_t>(RegisteredMemory::instance().count());
  counts["graph"] = static_cast<int64_t>(Graphs::instance().count());
  counts["capture that has not ended"] = any_capture() ? 1 : 0;
  std::vector<Holding> all;
  const std::lock_guard lock(mutex_);
  for (const auto& [what, count] : counts_) counts[what] += count;
  for (const auto& [what, count] : counts) all.push_back({what, nullptr, count});
  for (const auto& [mode, value] : modes_) all.push_back({mode.first, mode.second, value});
  all.push_back({"current device", this, current_device()});
  return all;
}

}  // namespace warplings::sim

extern "C" {

void wsim_library_holds(const char* what, int change) {
  warplings::sim::Holdings::instance().change(what, change);
}

void wsim_library_mode(const char* what, const void* object, int64_t value) {
  warplings::sim::Holdings::instance().set_mode(what, object, value);
}

void wsim_library_gone(const void* object) {
  warplings::sim::Holdings::instance().forget_modes(object);
}

}  // extern "C"
