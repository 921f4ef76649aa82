#include "runtime/kernel_launch.h"

#include <cstring>
#include <utility>

#include "profile/cost.h"
#include "runtime/device_state.h"
#include "runtime/launch_refusal.h"
#include "runtime/repeat_launch.h"

namespace warplings::sim {
namespace {

std::vector<uint8_t> parameter_buffer(const Kernel& kernel, void** arguments) {
  std::vector<uint8_t> buffer(kernel.param_bytes);
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    std::memcpy(buffer.data() + kernel.params[i].offset, arguments[i], kernel.params[i].size);
  }
  return buffer;
}

// Memory that the host sees too, among the pointers that the kernel is given. Pointers that lie in
// structures in memory are not found.
std::vector<MemoryRange> host_visible(const std::vector<uint8_t>& parameters) {
  std::vector<MemoryRange> ranges;
  const DeviceMemory& memory = DeviceMemory::instance();
  for (size_t at = 0; at + sizeof(uint64_t) <= parameters.size(); at += sizeof(uint64_t)) {
    uint64_t value = 0;
    std::memcpy(&value, parameters.data() + at, sizeof value);
    const Allocation* allocation = memory.in_arena(value) ? memory.allocation_at(value) : nullptr;
    if (allocation == nullptr || allocation->freed || value >= allocation->end()) continue;
    if (allocation->kind != AllocationKind::kManaged &&
        allocation->kind != AllocationKind::kHostPinned) {
      continue;
    }
    ranges.push_back({allocation->start, allocation->size, true});
  }
  return ranges;
}

std::shared_ptr<Work> describe(const KernelWork& launch) {
  auto work = std::make_shared<Work>();
  work->kind = WorkKind::kKernel;
  work->name = launch.kernel->demangled;
  work->where = launch.config.where;
  work->host_visible = host_visible(launch.parameters);
  return work;
}

}  // namespace

cudaError_t error_of(LaunchStatus status) {
  switch (status) {
    case LaunchStatus::kOk:
      return cudaSuccess;
    case LaunchStatus::kIllegalAddress:
      return cudaErrorIllegalAddress;
    case LaunchStatus::kMisaligned:
      return cudaErrorMisalignedAddress;
    case LaunchStatus::kAssert:
      return cudaErrorAssert;
    case LaunchStatus::kTrap:
      return cudaErrorLaunchFailure;
    case LaunchStatus::kTimeout:
      return cudaErrorLaunchTimeout;
    case LaunchStatus::kUnsupported:
      return cudaErrorNotSupported;
  }
  return cudaErrorUnknown;
}

cudaError_t prepare_launch(const LaunchRequest& request, KernelWork* work) {
  work->registered = request.registered;
  work->config = request.config;
  work->config.device = current_device();
  const cudaError_t error = Registry::instance().resolve(request.registered, &work->kernel);
  if (error != cudaSuccess) return error;
  const Kernel& kernel = *work->kernel;
  const Refusal refusal =
      check_launch(kernel, request.config, request.registered->max_dynamic_shared);
  if (refusal.error != cudaSuccess) {
    report_refusal(kernel.demangled, request.config, refusal, request.returned_to_program);
    return refusal.error;
  }
  if (!kernel.params.empty() && request.arguments == nullptr) return cudaErrorInvalidValue;
  const int resident = resident_blocks_of(kernel, static_cast<int>(request.config.block.count()),
                                          request.config.dynamic_shared);
  work->config.resident_blocks = static_cast<uint64_t>(std::max(resident, 1));
  work->parameters = parameter_buffer(kernel, request.arguments);
  return cudaSuccess;
}

WorkItem work_item(KernelWork work) {
  WorkItem item;
  item.about = describe(work);
  item.run = [work = std::move(work)] {
    constexpr double kStartMs = 0.002;  // of any kernel
    const CostMeter meter(*work.kernel);
    const LaunchStatus status =
        RepeatedLaunches::instance().run(*work.kernel, work.config, work.parameters);
    Streams::instance().set_duration(kStartMs + 1e3 * meter.finish(work.config).seconds);
    return error_of(status);
  };
  return item;
}

cudaError_t launch(const LaunchRequest& request) {
  Streams& streams = Streams::instance();
  const auto stream = streams.find(request.stream);
  if (stream == nullptr || stream->device != current_device()) {
    return cudaErrorInvalidResourceHandle;
  }
  KernelWork work;
  const cudaError_t error = prepare_launch(request, &work);
  if (error != cudaSuccess) return error;
  streams.enqueue(stream, work_item(std::move(work)));
  return cudaSuccess;
}

}  // namespace warplings::sim
