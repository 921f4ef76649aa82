// Launching kernels, and what the program can ask about them, in the CUDA runtime API.
#include <cuda_runtime_api.h>

#include <cstring>
#include <memory>
#include <vector>

#include "exec/launch.h"
#include "profile/counters.h"
#include "runtime/api.h"
#include "runtime/call_configuration.h"
#include "runtime/device_model.h"
#include "runtime/launch_refusal.h"
#include "runtime/registry.h"
#include "runtime/repeat_launch.h"
#include "runtime/stream.h"

using namespace warplings::sim;

namespace {

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

// A coarse stand-in for time: issue slots of all multiprocessors, or memory bandwidth, whichever
// is the longer, plus the least that a kernel takes.
double modelled_ms(const wsim_counters& before, const wsim_counters& after) {
  constexpr double kLeastMs = 0.002, kIssuePerMs = 132 * 4 * 1.98e6, kBytesPerMs = 4.2e9;
  const auto issued = static_cast<double>(after.warp_instructions - before.warp_instructions);
  const auto sectors =
      static_cast<double>(after.global_load_sectors + after.global_store_sectors -
                          before.global_load_sectors - before.global_store_sectors);
  return kLeastMs + std::max(issued / kIssuePerMs, 32 * sectors / kBytesPerMs);
}

std::vector<uint8_t> parameter_buffer(const Kernel& kernel, void** arguments) {
  std::vector<uint8_t> buffer(kernel.param_bytes);
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    std::memcpy(buffer.data() + kernel.params[i].offset, arguments[i], kernel.params[i].size);
  }
  return buffer;
}

Dim3 to_dim3(const dim3& size) { return {size.x, size.y, size.z}; }

struct LaunchRequest {
  RegisteredKernel* registered = nullptr;
  LaunchConfig config;
  void** arguments = nullptr;
  cudaStream_t stream = nullptr;
  bool returned_to_program = true;  // false for <<<>>>, which drops the error
};

cudaError_t launch(const LaunchRequest& request) {
  Streams& streams = Streams::instance();
  const auto stream = streams.find(request.stream);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  const cudaError_t error = Registry::instance().resolve(request.registered);
  if (error != cudaSuccess) return error;
  const Kernel& kernel = *request.registered->kernel;
  const Refusal refusal =
      check_launch(kernel, request.config, request.registered->max_dynamic_shared);
  if (refusal.error != cudaSuccess) {
    report_refusal(kernel.demangled, request.config, refusal, request.returned_to_program);
    return refusal.error;
  }
  if (!kernel.params.empty() && request.arguments == nullptr) return cudaErrorInvalidValue;
  WorkItem item;
  item.run = [&kernel, config = request.config,
              parameters = parameter_buffer(kernel, request.arguments)] {
    const wsim_counters before = CounterStore::instance().totals();
    const LaunchStatus status = RepeatedLaunches::instance().run(kernel, config, parameters);
    Streams::instance().set_duration(modelled_ms(before, CounterStore::instance().totals()));
    return error_of(status);
  };
  streams.enqueue(stream, std::move(item));
  return cudaSuccess;
}

// Launches that name the host function. `<<<>>>` of older code paths also comes here: then the
// position was recorded with the configuration.
cudaError_t launch_function(const ApiCall& call, const void* function, LaunchRequest request) {
  if (function == nullptr) return cudaErrorInvalidDeviceFunction;
  request.registered = Registry::instance().kernel_at(function);
  if (request.registered == nullptr) return cudaErrorInvalidResourceHandle;
  Position recorded;
  request.returned_to_program = !take_launch_position(&recorded);
  request.config.where = request.returned_to_program ? call.where() : recorded;
  return launch(request);
}

LaunchRequest make_request(dim3 grid, dim3 block, void** arguments, size_t shared,
                           cudaStream_t stream, bool cooperative) {
  LaunchRequest request;
  request.config.grid = to_dim3(grid);
  request.config.block = to_dim3(block);
  request.config.dynamic_shared = shared;
  request.config.cooperative = cooperative;
  request.arguments = arguments;
  request.stream = stream;
  return request;
}

cudaError_t find_kernel_of(const void* function, RegisteredKernel** registered) {
  *registered = Registry::instance().kernel_at(function);
  if (*registered == nullptr) {
    // Occupancy and attribute calls also take the handle of cudaGetKernel.
    auto* handle = static_cast<RegisteredKernel*>(const_cast<void*>(function));
    if (!Registry::instance().is_kernel(handle)) return cudaErrorInvalidResourceHandle;
    *registered = handle;
  }
  return Registry::instance().resolve(*registered);
}

int max_dynamic_shared(const RegisteredKernel& registered) {
  if (registered.max_dynamic_shared >= 0) return registered.max_dynamic_shared;
  return static_cast<int>(DeviceModel::kSharedPerBlock) -
         static_cast<int>(registered.kernel->static_shared);
}

cudaError_t occupancy(int* blocks, const void* function, int threads, size_t dynamic_shared) {
  RegisteredKernel* registered = nullptr;
  if (blocks == nullptr) return cudaErrorInvalidValue;
  *blocks = 0;
  const cudaError_t error = find_kernel_of(function, &registered);
  if (error != cudaSuccess) return error;
  if (threads <= 0) return cudaErrorInvalidValue;
  const Kernel& kernel = *registered->kernel;
  if (threads > kernel.max_threads_per_block ||
      dynamic_shared > static_cast<size_t>(max_dynamic_shared(*registered))) {
    return cudaSuccess;
  }
  *blocks = resident_blocks(threads, kernel.registers, kernel.static_shared + dynamic_shared);
  return cudaSuccess;
}

cudaError_t set_attribute(RegisteredKernel* registered, cudaFuncAttribute attribute, int value) {
  switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
      if (value < 0 || static_cast<size_t>(value) + registered->kernel->static_shared >
                           DeviceModel::kSharedPerBlockOptIn) {
        return cudaErrorInvalidValue;
      }
      registered->max_dynamic_shared = value;
      return cudaSuccess;
    case cudaFuncAttributePreferredSharedMemoryCarveout:
      if (value < -1 || value > 100) return cudaErrorInvalidValue;
      registered->carveout = value;
      return cudaSuccess;
    default:
      return cudaErrorNotSupported;
  }
}

void fill_attributes(const RegisteredKernel& registered, cudaFuncAttributes* attributes) {
  *attributes = {};
  const Kernel& kernel = *registered.kernel;
  attributes->sharedSizeBytes = kernel.static_shared;
  attributes->localSizeBytes = kernel.local_bytes;
  attributes->maxThreadsPerBlock = kernel.max_threads_per_block;
  attributes->numRegs = kernel.registers;
  attributes->ptxVersion = 80;
  attributes->binaryVersion = DeviceModel::kComputeMajor * 10 + DeviceModel::kComputeMinor;
  attributes->maxDynamicSharedSizeBytes = max_dynamic_shared(registered);
  attributes->preferredShmemCarveout = registered.carveout;
}

// What the simulator can do with the attributes of cudaLaunchKernelExC.
cudaError_t apply_attributes(const cudaLaunchConfig_t& from, LaunchConfig* config) {
  for (unsigned i = 0; i < from.numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = from.attrs[i];
    switch (attribute.id) {
      case cudaLaunchAttributeCooperative:
        config->cooperative = attribute.val.cooperative != 0;
        break;
      case cudaLaunchAttributeClusterDimension: {
        const auto& size = attribute.val.clusterDim;
        if (size.x * size.y * size.z > 1) return cudaErrorNotSupported;
        break;
      }
      default:
        break;  // hints
    }
  }
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                             size_t shared, cudaStream_t stream) {
  return WARPLINGS_API {
    return launch_function(call, function,
                           make_request(grid, block, arguments, shared, stream, false));
  };
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block,
                                        void** arguments, size_t shared, cudaStream_t stream) {
  return WARPLINGS_API {
    return launch_function(call, function,
                           make_request(grid, block, arguments, shared, stream, true));
  };
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                void** arguments) {
  return WARPLINGS_API {
    if (config == nullptr) return cudaErrorInvalidValue;
    LaunchRequest request = make_request(config->gridDim, config->blockDim, arguments,
                                         config->dynamicSmemBytes, config->stream, false);
    const cudaError_t error = apply_attributes(*config, &request.config);
    return error == cudaSuccess ? launch_function(call, function, request) : error;
  };
}

// nvcc's code for <<<>>> passes the handle of __cudaGetKernel.
cudaError_t __cudaLaunchKernel(cudaKernel_t handle, dim3 grid, dim3 block, void** arguments,
                               size_t shared, cudaStream_t stream) {
  return WARPLINGS_API {
    LaunchRequest request = make_request(grid, block, arguments, shared, stream, false);
    take_launch_position(&request.config.where);
    request.registered = reinterpret_cast<RegisteredKernel*>(handle);
    request.returned_to_program = false;
    if (request.registered == nullptr) return cudaErrorInvalidDeviceFunction;
    return launch(request);
  };
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  return WARPLINGS_API {
    RegisteredKernel* registered = nullptr;
    const cudaError_t error = find_kernel_of(function, &registered);
    if (error != cudaSuccess) return error;
    fill_attributes(*registered, attributes);
    return cudaSuccess;
  };
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  return WARPLINGS_API {
    RegisteredKernel* registered = nullptr;
    const cudaError_t error = find_kernel_of(function, &registered);
    return error == cudaSuccess ? set_attribute(registered, attribute, value) : error;
  };
}

cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache) {
  return WARPLINGS_API {
    return Registry::instance().kernel_at(function) == nullptr ? cudaErrorInvalidDeviceFunction
                                                               : cudaSuccess;
  };
}

cudaError_t cudaFuncSetSharedMemConfig(const void* function, cudaSharedMemConfig) {
  return WARPLINGS_API {
    return Registry::instance().kernel_at(function) == nullptr ? cudaErrorInvalidDeviceFunction
                                                               : cudaSuccess;
  };
}

cudaError_t cudaFuncGetName(const char** name, const void* function) {
  return WARPLINGS_API {
    RegisteredKernel* registered = Registry::instance().kernel_at(function);
    if (registered == nullptr) return cudaErrorInvalidDeviceFunction;
    *name = registered->name.c_str();
    return cudaSuccess;
  };
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                          int threads, size_t dynamic_shared) {
  return WARPLINGS_API { return occupancy(blocks, function, threads, dynamic_shared); };
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* function, int threads, size_t dynamic_shared, unsigned) {
  return WARPLINGS_API { return occupancy(blocks, function, threads, dynamic_shared); };
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* function,
                                                      int blocks, int threads) {
  return WARPLINGS_API {
    RegisteredKernel* registered = nullptr;
    const cudaError_t error = find_kernel_of(function, &registered);
    if (error != cudaSuccess) return error;
    if (blocks <= 0 || threads <= 0) return cudaErrorInvalidValue;
    const size_t share = DeviceModel::kSharedPerMultiprocessor / static_cast<size_t>(blocks);
    const size_t taken = registered->kernel->static_shared + DeviceModel::kSharedReserved;
    *bytes = share > taken ? std::min(share, DeviceModel::kSharedPerBlockOptIn) - taken : 0;
    return cudaSuccess;
  };
}

}  // extern "C"
