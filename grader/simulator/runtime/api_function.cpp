// What a program can ask about its kernels, and set for them, in the CUDA runtime API.
#include <cuda_runtime_api.h>

#include <algorithm>

#include "profile/resources.h"
#include "runtime/api.h"
#include "runtime/device_model.h"
#include "runtime/device_state.h"
#include "runtime/registry.h"

using namespace warplings::sim;

namespace {

struct Found {
  RegisteredKernel* registered = nullptr;
  const Kernel* kernel = nullptr;
};

cudaError_t find(const void* function, Found* found) {
  if (function == nullptr) return cudaErrorInvalidDeviceFunction;
  found->registered = Registry::instance().kernel_of(function);
  if (found->registered == nullptr) return cudaErrorInvalidResourceHandle;
  return Registry::instance().resolve(found->registered, &found->kernel);
}

int max_dynamic_shared(const Found& found) {
  return found.registered->max_dynamic_shared[current_device()].value_or(
      static_cast<int>(DeviceModel::kSharedPerBlock) -
      static_cast<int>(found.kernel->static_shared));
}

cudaError_t occupancy(int* blocks, const void* function, int threads, size_t dynamic_shared) {
  if (blocks == nullptr) return cudaErrorInvalidValue;
  *blocks = 0;
  Found found;
  if (const cudaError_t error = find(function, &found); error != cudaSuccess) return error;
  if (threads <= 0) return cudaErrorInvalidValue;
  const Kernel& kernel = *found.kernel;
  if (threads > kernel.max_threads_per_block ||
      dynamic_shared > static_cast<size_t>(max_dynamic_shared(found))) {
    return cudaSuccess;
  }
  *blocks = resident_blocks(threads, resources_of(kernel).registers,
                            kernel.static_shared + dynamic_shared);
  return cudaSuccess;
}

cudaError_t set_attribute(const Found& found, cudaFuncAttribute attribute, int value, int device) {
  RegisteredKernel& registered = *found.registered;
  switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
      if (value < 0 || static_cast<size_t>(value) + found.kernel->static_shared >
                           gpu_model_of(device).shared_per_block_opt_in) {
        return cudaErrorInvalidValue;
      }
      registered.max_dynamic_shared[device] = value;
      return cudaSuccess;
    case cudaFuncAttributePreferredSharedMemoryCarveout:
      if (value < -1 || value > 100) return cudaErrorInvalidValue;
      registered.carveout = value;
      return cudaSuccess;
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
      registered.large_clusters = value != 0;
      return cudaSuccess;
    case cudaFuncAttributeClusterSchedulingPolicyPreference:
      return cudaSuccess;
    default:
      return cudaErrorInvalidValue;
  }
}

void fill_attributes(const Found& found, cudaFuncAttributes* attributes) {
  *attributes = {};
  const Kernel& kernel = *found.kernel;
  attributes->sharedSizeBytes = kernel.static_shared;
  attributes->constSizeBytes = constant_bytes(kernel.module);
  attributes->localSizeBytes = kernel.local_bytes;
  attributes->maxThreadsPerBlock = kernel.max_threads_per_block;
  attributes->numRegs = resources_of(kernel).registers;
  attributes->ptxVersion = 80;
  attributes->binaryVersion = gpu_model().compute_major * 10 + gpu_model().compute_minor;
  attributes->maxDynamicSharedSizeBytes = max_dynamic_shared(found);
  attributes->preferredShmemCarveout = found.registered->carveout;
}

}  // namespace

extern "C" {

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  return WARPLINGS_API {
    Found found;
    if (attributes == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error = find(function, &found);
    if (error == cudaSuccess) fill_attributes(found, attributes);
    return error;
  };
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  return WARPLINGS_API {
    Found found;
    const cudaError_t error = find(function, &found);
    return error == cudaSuccess ? set_attribute(found, attribute, value, current_device()) : error;
  };
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute,
                                            int value, int device) {
  return WARPLINGS_API {
    if (device < 0 || device >= device_count()) return cudaErrorInvalidDevice;
    Found found;
    const cudaError_t error = find(kernel, &found);
    return error == cudaSuccess ? set_attribute(found, attribute, value, device) : error;
  };
}

cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache) {
  return WARPLINGS_API {
    return Registry::instance().kernel_of(function) == nullptr ? cudaErrorInvalidDeviceFunction
                                                               : cudaSuccess;
  };
}

cudaError_t cudaFuncSetSharedMemConfig(const void* function, cudaSharedMemConfig) {
  return WARPLINGS_API {
    return Registry::instance().kernel_of(function) == nullptr ? cudaErrorInvalidDeviceFunction
                                                               : cudaSuccess;
  };
}

cudaError_t cudaFuncGetName(const char** name, const void* function) {
  return WARPLINGS_API {
    const RegisteredKernel* registered = Registry::instance().kernel_of(function);
    if (name == nullptr) return cudaErrorInvalidValue;
    if (registered == nullptr) return cudaErrorInvalidDeviceFunction;
    *name = registered->name.c_str();
    return cudaSuccess;
  };
}

cudaError_t cudaFuncGetParamInfo(const void* function, size_t index, size_t* offset, size_t* size) {
  return WARPLINGS_API {
    Found found;
    if (offset == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t error = find(function, &found); error != cudaSuccess) return error;
    if (index >= found.kernel->params.size()) return cudaErrorInvalidValue;
    *offset = found.kernel->params[index].offset;
    if (size != nullptr) *size = found.kernel->params[index].size;
    return cudaSuccess;
  };
}

// A kernel, a function and the address of its stub mean the same here: all are accepted everywhere.
cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* symbol) {
  return WARPLINGS_API {
    if (function == nullptr) return cudaErrorInvalidValue;
    Found found;
    if (const cudaError_t error = find(symbol, &found); error != cudaSuccess) return error;
    *function = reinterpret_cast<cudaFunction_t>(found.registered);
    return cudaSuccess;
  };
}

cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* host_function) {
  return WARPLINGS_API {
    if (kernel == nullptr) return cudaErrorInvalidValue;
    *kernel = reinterpret_cast<cudaKernel_t>(Registry::instance().kernel_of(host_function));
    return *kernel == nullptr ? cudaErrorInvalidDeviceFunction : cudaSuccess;
  };
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                          int threads, size_t dynamic_shared) {
  return WARPLINGS_API { return occupancy(blocks, function, threads, dynamic_shared); };
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* function, int threads, size_t dynamic_shared, unsigned flags) {
  return WARPLINGS_API {
    if ((flags & ~unsigned{cudaOccupancyDisableCachingOverride}) != 0) {
      return cudaErrorInvalidValue;
    }
    return occupancy(blocks, function, threads, dynamic_shared);
  };
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* function,
                                                      int blocks, int threads) {
  return WARPLINGS_API {
    Found found;
    if (bytes == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t error = find(function, &found); error != cudaSuccess) return error;
    if (blocks <= 0 || threads <= 0) return cudaErrorInvalidValue;
    const GpuModel& model = gpu_model_of(current_device());
    const size_t share = model.shared_per_multiprocessor / static_cast<size_t>(blocks);
    const size_t taken = found.kernel->static_shared + model.shared_reserved;
    *bytes = share > taken ? std::min(share, model.shared_per_block_opt_in) - taken : 0;
    return cudaSuccess;
  };
}

}  // extern "C"
