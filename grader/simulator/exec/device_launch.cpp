#include "exec/device_launch.h"

#include <algorithm>
#include <cstring>
#include <queue>

#include "exec/events.h"
#include "exec/fault.h"
#include "memory/device_memory.h"

namespace warplings::sim {
namespace {

// Values of cudaError_t.
constexpr int kSuccess = 0, kInvalidValue = 1, kInvalidConfiguration = 9;
constexpr int kDepthExceeded = 65;

// Streams that exist without being created.
constexpr uint64_t kTailLaunch = 3, kFireAndForget = 4;

constexpr int kDeepest = 24;                  // grids inside of grids, as on hardware
constexpr uint64_t kSlab = 64 * 1024;         // bytes
constexpr uint64_t kBufferAlignment = 64;     // bytes
constexpr uint64_t kMostShared = 227 * 1024;  // bytes per block
constexpr unsigned kMostBlocksYZ = 65535, kMostThreadsZ = 64;

bool can_run(const Kernel& kernel, const LaunchConfig& config) {
  const Dim3 &grid = config.grid, &block = config.block;
  return grid.count() > 0 && grid.y <= kMostBlocksYZ && grid.z <= kMostBlocksYZ &&
         block.count() > 0 && block.z <= kMostThreadsZ &&
         block.count() <= static_cast<uint64_t>(kernel.max_threads_per_block) &&
         kernel.static_shared + config.dynamic_shared <= kMostShared;
}

}  // namespace

DeviceLaunches::~DeviceLaunches() {
  for (const uint64_t slab : slabs_) DeviceMemory::instance().free(slab);
}

uint64_t DeviceLaunches::parameter_buffer(const Kernel* kernel, const LaunchConfig& config) {
  DeviceMemory& memory = DeviceMemory::instance();
  const uint64_t size = (std::max<uint64_t>(kernel->param_bytes, 1) + kBufferAlignment - 1) /
                        kBufferAlignment * kBufferAlignment;
  if (slab_end_ - slab_next_ < size) {
    slab_next_ =
        memory.allocate(kSlab, AllocationKind::kDevice, "launch parameters", parent_.device);
    if (slab_next_ == 0) {
      slab_end_ = 0;
      return 0;
    }
    slabs_.push_back(slab_next_);
    slab_end_ = slab_next_ + kSlab;
  }
  const uint64_t address = slab_next_;
  slab_next_ += size;
  buffers_[address] = {kernel, config};
  return address;
}

int DeviceLaunches::launch(uint64_t buffer, uint64_t stream, uint64_t block) {
  const auto found = buffers_.find(buffer);
  if (found == buffers_.end()) return kInvalidValue;
  Work work;
  work.kernel = found->second.kernel;
  work.config = found->second.config;
  buffers_.erase(found);
  work.config.device = parent_.device;
  work.config.depth = parent_.depth + 1;
  if (work.config.depth > kDeepest) return kDepthExceeded;
  if (!can_run(*work.kernel, work.config)) return kInvalidConfiguration;
  const uint8_t* bytes = DeviceMemory::instance().view(buffer);
  work.parameters.assign(bytes, bytes + work.kernel->param_bytes);
  return add(std::move(work), stream, block);
}

int DeviceLaunches::copy(uint64_t to, uint64_t from, uint64_t bytes, uint64_t stream,
                         uint64_t block) {
  Work work;
  work.to = to;
  work.from = from;
  work.bytes = bytes;
  return add(std::move(work), stream, block);
}

int DeviceLaunches::fill(uint64_t to, int value, uint64_t bytes, uint64_t stream, uint64_t block) {
  Work work;
  work.to = to;
  work.bytes = bytes;
  work.value = value & 0xff;
  return add(std::move(work), stream, block);
}

int DeviceLaunches::add(Work work, uint64_t stream, uint64_t block) {
  // The tail belongs to the grid, fire-and-forget work to nobody; other streams to their block.
  work.is_tail = stream == kTailLaunch;
  if (stream != kFireAndForget) {
    std::vector<size_t>& end = ends_[{work.is_tail ? 0 : block, stream}];
    work.after = end;
    if (work.kernel != nullptr && !end.empty()) waiting_child_counted();
    end.assign(1, work_.size());
  }
  work_.push_back(std::move(work));
  return kSuccess;
}

void DeviceLaunches::record(uint64_t event, uint64_t stream, uint64_t block) {
  events_[event] = ends_[{block, stream}];
}

void DeviceLaunches::wait(uint64_t stream, uint64_t event, uint64_t block) {
  std::vector<size_t>& end = ends_[{block, stream}];
  for (const size_t work : events_[event]) {
    if (std::find(end.begin(), end.end(), work) == end.end()) end.push_back(work);
  }
}

int DeviceLaunches::fail(uint64_t thread, int error) {
  if (error != kSuccess) errors_[thread] = error;
  return error;
}

int DeviceLaunches::last_error(uint64_t thread, bool clear) {
  const auto found = errors_.find(thread);
  if (found == errors_.end()) return kSuccess;
  const int error = found->second;
  if (clear) errors_.erase(found);
  return error;
}

// Of those that wait for nothing any more, the last one; the tail once nothing else is left.
std::vector<size_t> DeviceLaunches::order() const {
  std::vector<size_t> waits(work_.size());
  std::vector<std::vector<size_t>> next(work_.size());
  std::priority_queue<std::pair<bool, size_t>> ready;  // not a tail, index
  for (size_t i = 0; i < work_.size(); ++i) {
    waits[i] = work_[i].after.size();
    for (const size_t before : work_[i].after) next[before].push_back(i);
    if (waits[i] == 0) ready.emplace(!work_[i].is_tail, i);
  }
  std::vector<size_t> result;
  while (!ready.empty()) {
    const size_t i = ready.top().second;
    ready.pop();
    result.push_back(i);
    for (const size_t after : next[i]) {
      if (--waits[after] == 0) ready.emplace(!work_[after].is_tail, after);
    }
  }
  return result;
}

LaunchStatus DeviceLaunches::run() {
  for (const size_t index : order()) {
    const LaunchStatus status = run_one(work_[index]);
    if (status != LaunchStatus::kOk) return status;
  }
  return LaunchStatus::kOk;
}

LaunchStatus DeviceLaunches::run_one(const Work& work) {
  if (work.kernel != nullptr) return run_kernel(*work.kernel, work.config, work.parameters.data());
  DeviceMemory& memory = DeviceMemory::instance();
  const bool is_copy = work.value < 0;
  if (!memory.accessible(work.to, work.bytes) ||
      (is_copy && !memory.accessible(work.from, work.bytes))) {
    return LaunchStatus::kIllegalAddress;
  }
  if (is_copy) {
    std::memmove(memory.view(work.to), memory.view(work.from), work.bytes);
    memory.copy_definedness(work.to, work.from, work.bytes);
  } else {
    std::memset(memory.view(work.to), work.value, work.bytes);
    memory.mark_defined(work.to, work.bytes);
  }
  return LaunchStatus::kOk;
}

}  // namespace warplings::sim
