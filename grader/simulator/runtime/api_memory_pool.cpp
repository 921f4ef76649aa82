// Memory that streams allocate and free in their order, and its pools, in the CUDA runtime API.
#include <cuda_runtime_api.h>

#include <utility>

#include "runtime/api.h"
#include "runtime/capture.h"
#include "runtime/device_model.h"
#include "runtime/device_state.h"
#include "runtime/graph_arguments.h"
#include "runtime/host_fault.h"
#include "runtime/memory_pool.h"
#include "runtime/memory_work.h"
#include "runtime/pointer.h"

using namespace warplings::sim;

namespace {

// Pools hold memory of devices.
bool has_pool(const cudaMemLocation* location, cudaMemAllocationType type) {
  return location != nullptr && location->type == cudaMemLocationTypeDevice &&
         is_device(location->id) && type == cudaMemAllocationTypePinned;
}

cudaError_t use_pool(int device, cudaMemPool_t handle) {
  MemoryPool* pool = MemoryPools::instance().find(handle);
  if (pool == nullptr || pool->device != device) return cudaErrorInvalidValue;
  MemoryPools::instance().set_current(device, pool);
  return cudaSuccess;
}

// A captured allocation becomes a node; its address is known at once.
cudaError_t capture_allocation(const ApiCall& call, StreamState& stream, size_t size,
                               void** pointer) {
  cudaMemAllocNodeParams params{};
  params.poolProps.allocType = cudaMemAllocationTypePinned;
  params.poolProps.location = {cudaMemLocationTypeDevice, {stream.device}};
  params.bytesize = size;
  NodeWork work;
  const cudaError_t error = allocation_work(call, &params, &work);
  if (error != cudaSuccess) return error;
  *pointer = params.dptr;
  capture_node(stream, std::move(work));
  return cudaSuccess;
}

// `pool` nullptr: the current one of the stream's device.
cudaError_t allocate(const ApiCall& call, void** pointer, size_t size, MemoryPool* pool,
                     cudaStream_t handle) {
  std::shared_ptr<StreamState> stream;
  if (const cudaError_t error = find_target(handle, &stream); error != cudaSuccess) return error;
  if (pointer == nullptr) return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (size == 0) return cudaSuccess;
  catch_host_access();
  if (stream->capture != nullptr) return capture_allocation(call, *stream, size, pointer);
  MemoryPools& pools = MemoryPools::instance();
  if (pool == nullptr) pool = pools.current_of(stream->device);
  return pools.allocate(call, pool, size, stream, pointer);
}

template <class T>
void read_or_write(void* value, T* field, bool write) {
  auto* const given = static_cast<T*>(value);
  if (write) {
    *field = *given;
  } else {
    *given = *field;
  }
}

// High-water marks can only be set to zero, which means "since now".
cudaError_t restart_mark(const void* value, uint64_t current, uint64_t* mark) {
  if (*static_cast<const uint64_t*>(value) != 0) return cudaErrorInvalidValue;
  *mark = current;
  return cudaSuccess;
}

cudaError_t attribute(cudaMemPool_t handle, cudaMemPoolAttr name, void* value, bool write) {
  MemoryPool* pool = MemoryPools::instance().find(handle);
  if (pool == nullptr || value == nullptr) return cudaErrorInvalidValue;
  auto* const bytes = static_cast<uint64_t*>(value);
  switch (name) {
    case cudaMemPoolReuseFollowEventDependencies:
      read_or_write(value, &pool->reuse_follow_event, write);
      return cudaSuccess;
    case cudaMemPoolReuseAllowOpportunistic:
      read_or_write(value, &pool->reuse_opportunistic, write);
      return cudaSuccess;
    case cudaMemPoolReuseAllowInternalDependencies:
      read_or_write(value, &pool->reuse_internal, write);
      return cudaSuccess;
    case cudaMemPoolAttrReleaseThreshold:
      read_or_write(value, &pool->release_threshold, write);
      return cudaSuccess;
    case cudaMemPoolAttrUsedMemHigh:
      if (write) return restart_mark(value, pool->used, &pool->used_high);
      *bytes = pool->used_high;
      return cudaSuccess;
    case cudaMemPoolAttrReservedMemHigh:
      if (write) return restart_mark(value, pool->reserved, &pool->reserved_high);
      *bytes = pool->reserved_high;
      return cudaSuccess;
    case cudaMemPoolAttrUsedMemCurrent:
      if (write) return cudaErrorInvalidValue;
      *bytes = pool->used;
      return cudaSuccess;
    case cudaMemPoolAttrReservedMemCurrent:
      if (write) return cudaErrorInvalidValue;
      *bytes = pool->reserved;
      return cudaSuccess;
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace

extern "C" {

cudaError_t cudaMallocAsync(void** pointer, size_t size, cudaStream_t stream) {
  return WARPLINGS_API { return allocate(call, pointer, size, nullptr, stream); };
}

cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t size, cudaMemPool_t handle,
                                    cudaStream_t stream) {
  return WARPLINGS_API {
    MemoryPool* pool = MemoryPools::instance().find(handle);
    return pool == nullptr ? cudaErrorInvalidValue : allocate(call, pointer, size, pool, stream);
  };
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t handle) {
  return WARPLINGS_API {
    std::shared_ptr<StreamState> stream;
    const cudaError_t error = find_target(handle, &stream);
    if (error != cudaSuccess) return error;
    if (pointer == nullptr) return cudaErrorInvalidValue;
    if (stream->capture != nullptr) {
      capture_node(*stream, FreeWork{pointer, call});
    } else {
      Streams::instance().enqueue(stream, free_work(pointer, call));
    }
    return cudaSuccess;
  };
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return WARPLINGS_API {
    if (pool == nullptr) return cudaErrorInvalidValue;
    if (!is_device(device)) return cudaErrorInvalidDevice;
    *pool = MemoryPools::instance().default_of(device);
    return cudaSuccess;
  };
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return WARPLINGS_API {
    if (pool == nullptr) return cudaErrorInvalidValue;
    if (!is_device(device)) return cudaErrorInvalidDevice;
    *pool = MemoryPools::instance().current_of(device);
    return cudaSuccess;
  };
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t handle) {
  return WARPLINGS_API {
    return is_device(device) ? use_pool(device, handle) : cudaErrorInvalidDevice;
  };
}

cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t* pool, cudaMemLocation* location,
                                     cudaMemAllocationType type) {
  return WARPLINGS_API {
    if (pool == nullptr || !has_pool(location, type)) return cudaErrorInvalidValue;
    *pool = MemoryPools::instance().default_of(location->id);
    return cudaSuccess;
  };
}

cudaError_t cudaMemGetMemPool(cudaMemPool_t* pool, cudaMemLocation* location,
                              cudaMemAllocationType type) {
  return WARPLINGS_API {
    if (pool == nullptr || !has_pool(location, type)) return cudaErrorInvalidValue;
    *pool = MemoryPools::instance().current_of(location->id);
    return cudaSuccess;
  };
}

cudaError_t cudaMemSetMemPool(cudaMemLocation* location, cudaMemAllocationType type,
                              cudaMemPool_t handle) {
  return WARPLINGS_API {
    if (!has_pool(location, type)) return cudaErrorInvalidValue;
    return use_pool(location->id, handle);
  };
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  return WARPLINGS_API {
    if (pool == nullptr || properties == nullptr ||
        properties->allocType != cudaMemAllocationTypePinned) {
      return cudaErrorInvalidValue;
    }
    // Pools of host memory, and pools that other processes open, do not exist here.
    if (properties->location.type != cudaMemLocationTypeDevice ||
        properties->handleTypes != cudaMemHandleTypeNone) {
      return cudaErrorNotSupported;
    }
    if (!is_device(properties->location.id)) return cudaErrorInvalidDevice;
    *pool = MemoryPools::instance().create(*properties);
    return cudaSuccess;
  };
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t handle) {
  return WARPLINGS_API {
    MemoryPool* pool = MemoryPools::instance().find(handle);
    return pool != nullptr && MemoryPools::instance().destroy(pool) ? cudaSuccess
                                                                    : cudaErrorInvalidValue;
  };
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr name, void* value) {
  return WARPLINGS_API { return attribute(pool, name, value, true); };
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr name, void* value) {
  return WARPLINGS_API { return attribute(pool, name, value, false); };
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t handle, size_t keep) {
  return WARPLINGS_API {
    MemoryPool* pool = MemoryPools::instance().find(handle);
    if (pool == nullptr) return cudaErrorInvalidValue;
    MemoryPools::instance().trim(pool, keep);
    return cudaSuccess;
  };
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t handle, const cudaMemAccessDesc* list,
                                 size_t count) {
  return WARPLINGS_API {
    MemoryPool* pool = MemoryPools::instance().find(handle);
    if (pool == nullptr || (count > 0 && list == nullptr)) return cudaErrorInvalidValue;
    uint32_t devices = pool->access;
    for (size_t i = 0; i < count; ++i) {
      if (list[i].location.type != cudaMemLocationTypeDevice) return cudaErrorInvalidValue;
      if (!is_device(list[i].location.id)) return cudaErrorInvalidDevice;
      const uint32_t bit = 1u << list[i].location.id;
      const bool none = list[i].flags == cudaMemAccessFlagsProtNone;
      // The owner keeps its access.
      if (none && list[i].location.id == pool->device) return cudaErrorInvalidDevice;
      devices = none ? devices & ~bit : devices | bit;
    }
    MemoryPools::instance().set_access(pool, devices);
    return cudaSuccess;
  };
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t handle,
                                 cudaMemLocation* location) {
  return WARPLINGS_API {
    const MemoryPool* pool = MemoryPools::instance().find(handle);
    if (pool == nullptr || flags == nullptr || location == nullptr ||
        location->type != cudaMemLocationTypeDevice) {
      return cudaErrorInvalidValue;
    }
    if (!is_device(location->id)) return cudaErrorInvalidDevice;
    *flags = (pool->access >> location->id & 1) != 0 ? cudaMemAccessFlagsProtReadWrite
                                                     : cudaMemAccessFlagsProtNone;
    return cudaSuccess;
  };
}

}  // extern "C"
