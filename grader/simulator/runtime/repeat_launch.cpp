#include "runtime/repeat_launch.h"

#include <string_view>
#include <utility>

#include "core/finding.h"
#include "core/machine.h"
#include "decode/program.h"
#include "memory/device_memory.h"
#include "memory/footprint.h"
#include "memory/snapshot.h"
#include "runtime/registry.h"

namespace warplings::sim {
namespace {

constexpr uint64_t kMostBytes = 256 << 20;  // of device memory that is worth comparing
constexpr int kMostFailures = 2;

bool host_can_write(const Allocation& allocation) {
  return allocation.kind != AllocationKind::kDevice;
}

std::string_view bytes_of(const Allocation& allocation) {
  return {reinterpret_cast<const char*>(DeviceMemory::instance().view(allocation.start)),
          allocation.size};
}

std::map<uint64_t, std::string> host_visible_memory() {
  std::map<uint64_t, std::string> result;
  for (const Allocation& allocation : all_allocations()) {
    if (host_can_write(allocation)) result.emplace(allocation.start, bytes_of(allocation));
  }
  return result;
}

bool is_same(const std::map<uint64_t, std::string>& visible) {
  size_t seen = 0;
  for (const Allocation& allocation : all_allocations()) {
    if (!host_can_write(allocation)) continue;
    const auto known = visible.find(allocation.start);
    if (known == visible.end() || known->second != bytes_of(allocation)) return false;
    ++seen;
  }
  return seen == visible.size();
}

bool same_size(const Dim3& a, const Dim3& b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

void add(const PcCounters& more, PcCounters* sum) {
  sum->issued += more.issued;
  sum->lanes += more.lanes;
  sum->requests += more.requests;
  sum->requests_16 += more.requests_16;
  sum->transactions += more.transactions;
  sum->excess += more.excess;
  sum->operations += more.operations;
  sum->bytes += more.bytes;
  sum->unique_bytes += more.unique_bytes;
  sum->traffic = more.traffic;
}

uint64_t occurrences_of_findings() {
  uint64_t count = 0;
  for (const Finding& finding : FindingLog::instance().snapshot()) count += finding.count;
  return count;
}

}  // namespace

RepeatedLaunches& RepeatedLaunches::instance() { return Machine::get<RepeatedLaunches>(); }

bool RepeatedLaunches::same_as_last(const Kernel& kernel, const LaunchConfig& config,
                                    const std::vector<uint8_t>& params) const {
  return kernel_ == &kernel && version_after_ == DeviceMemory::instance().version() &&
         same_size(config_.grid, config.grid) && same_size(config_.block, config.block) &&
         config_.dynamic_shared == config.dynamic_shared &&
         config_.cooperative == config.cooperative && params_ == params;
}

bool RepeatedLaunches::worth_trying(const Kernel& kernel) const {
  const auto failed = failures_.find(&kernel);
  return (failed == failures_.end() || failed->second < kMostFailures) &&
         DeviceMemory::instance().bytes_in_use() <= kMostBytes &&
         !DeviceMemory::instance().has_sparse() && !kernel.module->uses_time &&
         Registry::instance().is_repeatable(kernel.module);
}

void RepeatedLaunches::count_again(const Kernel& kernel, const LaunchConfig& config) const {
  CounterStore& store = CounterStore::instance();
  store.record_launch(kernel, config);
  std::vector<PcCounters>& counters = store.of(kernel.module);
  for (size_t i = 0; i < counters.size() && i < counted_.size(); ++i) {
    add(counted_[i], &counters[i]);
  }
}

LaunchStatus RepeatedLaunches::run_and_compare(const Kernel& kernel, const LaunchConfig& config,
                                               const std::vector<uint8_t>& params) {
  const MemorySnapshot before;
  const std::vector<PcCounters> counters = CounterStore::instance().of(kernel.module);
  const uint64_t findings = occurrences_of_findings();
  const LaunchStatus status = run_kernel(kernel, config, params.data());
  changes_nothing_ =
      status == LaunchStatus::kOk && findings == occurrences_of_findings() && before.is_current();
  if (!changes_nothing_) {
    ++failures_[&kernel];
    return status;
  }
  counted_ = CounterStore::instance().of(kernel.module);
  for (size_t i = 0; i < counted_.size() && i < counters.size(); ++i) {
    counted_[i] = difference(counted_[i], counters[i]);
  }
  visible_ = host_visible_memory();
  return status;
}

LaunchStatus RepeatedLaunches::run(const Kernel& kernel, const LaunchConfig& config,
                                   const std::vector<uint8_t>& params) {
  const bool repeated = same_as_last(kernel, config, params);
  // Streamcheck wants to know which bytes it touches: then it has to run.
  const bool watched = Footprint::recording() != nullptr;
  if (repeated && changes_nothing_ && !watched && is_same(visible_)) {
    count_again(kernel, config);
    return LaunchStatus::kOk;
  }
  changes_nothing_ = false;
  const LaunchStatus status = repeated && worth_trying(kernel)
                                  ? run_and_compare(kernel, config, params)
                                  : run_kernel(kernel, config, params.data());
  kernel_ = &kernel;
  config_ = config;
  params_ = params;
  version_after_ = DeviceMemory::instance().version();
  return status;
}

}  // namespace warplings::sim
