#include "runtime/kernel_launch.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "decode/program.h"
#include "exec/clock.h"
#include "profile/cost.h"
#include "profile/kernel_time.h"
#include "profile/profile_log.h"
#include "profile/timeline.h"
#include "profile/tracer.h"
#include "runtime/capture.h"
#include "runtime/device_state.h"
#include "runtime/launch_refusal.h"
#include "runtime/repeat_launch.h"

namespace warplings::sim {
namespace {

// The values of CU_LAUNCH_PARAM_*.
void* const kBufferPointer = reinterpret_cast<void*>(1);
void* const kBufferSize = reinterpret_cast<void*>(2);

// A list of names and values: a buffer that holds the arguments as the kernel expects them.
bool read_extra(void** extra, std::vector<uint8_t>* buffer) {
  const void* bytes = nullptr;
  size_t size = 0;
  for (; *extra != nullptr; extra += 2) {
    if (extra[0] == kBufferPointer) {
      bytes = extra[1];
    } else if (extra[0] == kBufferSize) {
      size = *static_cast<const size_t*>(extra[1]);
    } else {
      return false;
    }
  }
  if (bytes == nullptr || size < buffer->size()) return buffer->empty();
  std::memcpy(buffer->data(), bytes, buffer->size());
  return true;
}

bool read_arguments(const Kernel& kernel, const LaunchRequest& request,
                    std::vector<uint8_t>* buffer) {
  buffer->assign(kernel.param_bytes, 0);
  if (request.extra != nullptr) return read_extra(request.extra, buffer);
  if (request.arguments == nullptr) return kernel.params.empty();
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    std::memcpy(buffer->data() + kernel.params[i].offset, request.arguments[i],
                kernel.params[i].size);
  }
  return true;
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
  work->programmatic = launch.config.programmatic;
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

cudaError_t apply_attribute(const cudaLaunchAttribute& attribute, LaunchConfig* config) {
  switch (attribute.id) {
    case cudaLaunchAttributeCooperative:
      config->cooperative = attribute.val.cooperative != 0;
      return cudaSuccess;
    case cudaLaunchAttributeClusterDimension: {
      const auto& size = attribute.val.clusterDim;
      if (size.x == 0 || size.y == 0 || size.z == 0) return cudaErrorInvalidClusterSize;
      config->cluster = {size.x, size.y, size.z};
      return cudaSuccess;
    }
    case cudaLaunchAttributeProgrammaticStreamSerialization:
      config->programmatic = attribute.val.programmaticStreamSerializationAllowed != 0;
      return cudaSuccess;
    default:
      return cudaSuccess;  // hints: priority, access policy
  }
}

cudaError_t prepare_launch(const LaunchRequest& request, KernelWork* work) {
  work->function = const_cast<void*>(
      request.function != nullptr ? request.function : static_cast<void*>(request.registered));
  work->config = request.config;
  work->config.device = current_device();
  const cudaError_t error = Registry::instance().resolve(request.registered, &work->kernel);
  if (error != cudaSuccess) return error;
  const Kernel& kernel = *work->kernel;
  if (request.config.cluster.x == 0) work->config.cluster = kernel.cluster;
  const Refusal refusal =
      check_launch(kernel, work->config,
                   request.registered->max_dynamic_shared[work->config.device].value_or(-1),
                   request.registered->large_clusters);
  if (refusal.error != cudaSuccess) {
    report_refusal(kernel.demangled, request.config, refusal, request.returned_to_program);
    return refusal.error;
  }
  const int resident = resident_blocks_of(kernel, static_cast<int>(request.config.block.count()),
                                          request.config.dynamic_shared);
  work->config.resident_blocks = static_cast<uint64_t>(std::max(resident, 1));
  // check_launch has made sure that all of them fit.
  if (request.config.cooperative) work->config.resident_blocks = request.config.grid.count();
  return read_arguments(kernel, request, &work->parameters) ? cudaSuccess : cudaErrorInvalidValue;
}

WorkItem work_item(KernelWork work) {
  WorkItem item;
  item.about = describe(work);
  item.run = [work = std::move(work)] {
    ProfileLog::start();
    Tracer::start();
    const CostMeter meter(*work.kernel);
    LaunchClock& clock = LaunchClock::instance();
    clock = {};
    if (work.kernel->module->uses_time) clock.start = Timeline::instance().running_since();
    const LaunchStatus status =
        RepeatedLaunches::instance().run(*work.kernel, work.config, work.parameters);
    KernelTime time = modelled_kernel_time(work.config, meter.finish(work.config));
    time.seconds =
        std::max(time.seconds, static_cast<double>(clock.longest) / gpu_model().clock_hz);
    Timeline::instance().kernel_took(time);
    return error_of(status);
  };
  return item;
}

cudaError_t launch(const LaunchRequest& request) {
  std::shared_ptr<StreamState> stream;
  cudaError_t error = find_target(request.stream, &stream);
  if (error != cudaSuccess) return error;
  if (stream->device != current_device()) return cudaErrorInvalidResourceHandle;
  KernelWork work;
  error = prepare_launch(request, &work);
  if (error != cudaSuccess) return error;
  if (stream->capture != nullptr) {
    capture_node(*stream, KernelNodeWork{std::move(work), {}});
  } else {
    Streams::instance().enqueue(stream, work_item(std::move(work)));
  }
  return cudaSuccess;
}

}  // namespace warplings::sim
