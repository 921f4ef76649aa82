// Allocation, release and properties of memory in the CUDA runtime API.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <string>

#include "checks/stream_order.h"
#include "memory/device_memory.h"
#include "runtime/api.h"
#include "runtime/device_model.h"
#include "runtime/device_state.h"
#include "runtime/host_fault.h"
#include "runtime/memory_work.h"
#include "runtime/pointer.h"
#include "runtime/registered_memory.h"
#include "runtime/stream.h"

using namespace warplings::sim;

namespace {

cudaError_t allocate(const ApiCall& call, void** pointer, size_t size, AllocationKind kind) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (size == 0) return cudaSuccess;
  catch_host_access();
  DeviceMemory& memory = DeviceMemory::instance();
  const int device = current_device();
  const uint64_t address = memory.allocate(size, kind, "", device);
  if (address == 0) return cudaErrorMemoryAllocation;
  if (kind == AllocationKind::kDevice) apply_peer_access(device);
  const Position where = call.where();
  if (where.known()) memory.set_allocated_at(address, where.short_name());
  *pointer = reinterpret_cast<void*>(address);
  return cudaSuccess;
}

bool is_host_pinned(const void* pointer) {
  const Allocation* allocation = DeviceMemory::instance().allocation_at(address_of(pointer));
  return allocation != nullptr && allocation->kind == AllocationKind::kHostPinned;
}

cudaError_t release(const ApiCall& call, void* pointer, bool pinned) {
  if (pointer == nullptr) return cudaSuccess;
  const Allocation* allocation = DeviceMemory::instance().allocation_at(address_of(pointer));
  if (pinned && allocation != nullptr) {
    StreamOrder::instance().host_gives_back({allocation->start, allocation->size}, call.name(),
                                            call.where());
  }
  // Freeing waits for all work of the device that owns the memory.
  const int device = device_of(address_of(pointer));
  if (const cudaError_t error = Streams::instance().synchronize_device(device);
      error != cudaSuccess) {
    return error;
  }
  if (is_host_pinned(pointer) != pinned) {
    report_bad_free(call, pointer, DeviceMemory::FreeResult::kNotAnAllocation);
    return cudaErrorInvalidValue;
  }
  return free_now(call, pointer) == DeviceMemory::FreeResult::kOk ? cudaSuccess
                                                                  : cudaErrorInvalidValue;
}

cudaError_t pitched(const ApiCall& call, void** pointer, size_t* pitch, size_t width, size_t rows) {
  if (pointer == nullptr || pitch == nullptr) return cudaErrorInvalidValue;
  *pitch = (width + DeviceModel::kPitchAlignment - 1) / DeviceModel::kPitchAlignment *
           DeviceModel::kPitchAlignment;
  return allocate(call, pointer, *pitch * rows, AllocationKind::kDevice);
}

bool is_managed(const void* pointer) {
  const DeviceMemory& memory = DeviceMemory::instance();
  const Allocation* allocation = memory.allocation_at(address_of(pointer));
  return allocation != nullptr && !allocation->freed &&
         (allocation->kind == AllocationKind::kManaged ||
          allocation->kind == AllocationKind::kModule);
}

cudaError_t address_of_registered(const ApiCall& call, void** device, const void* host) {
  std::string reason;
  const uint64_t found = RegisteredMemory::instance().device_address(address_of(host), &reason);
  if (found == 0) {
    call.report(
        "api", "not-simulated",
        call.description() +
            " asks for the device address of memory that cudaHostRegister pinned, which the "
            "simulator cannot show to a kernel: " +
            reason +
            ". It returned cudaErrorNotSupported. Allocate this memory with cudaHostAlloc "
            "or malloc, or run this program on a GPU.");
    return cudaErrorNotSupported;
  }
  *device = reinterpret_cast<void*>(found);
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** pointer, size_t size) {
  return WARPLINGS_API { return allocate(call, pointer, size, AllocationKind::kDevice); };
}

cudaError_t cudaFree(void* pointer) {
  return WARPLINGS_API { return release(call, pointer, false); };
}

cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  return WARPLINGS_API { return pitched(call, pointer, pitch, width, height); };
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent) {
  return WARPLINGS_API {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    pointer->xsize = extent.width;
    pointer->ysize = extent.height;
    return pitched(call, &pointer->ptr, &pointer->pitch, extent.width,
                   extent.height * extent.depth);
  };
}

cudaError_t cudaMallocManaged(void** pointer, size_t size, unsigned flags) {
  return WARPLINGS_API {
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) return cudaErrorInvalidValue;
    return allocate(call, pointer, size, AllocationKind::kManaged);
  };
}

cudaError_t cudaMallocHost(void** pointer, size_t size) {
  return WARPLINGS_API { return allocate(call, pointer, size, AllocationKind::kHostPinned); };
}

cudaError_t cudaHostAlloc(void** pointer, size_t size, unsigned flags) {
  return WARPLINGS_API {
    constexpr unsigned kKnown =
        cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    if ((flags & ~kKnown) != 0) return cudaErrorInvalidValue;
    return allocate(call, pointer, size, AllocationKind::kHostPinned);
  };
}

cudaError_t cudaFreeHost(void* pointer) {
  return WARPLINGS_API { return release(call, pointer, true); };
}

cudaError_t cudaHostRegister(void* pointer, size_t size, unsigned) {
  return WARPLINGS_API {
    if (pointer == nullptr || size == 0) return cudaErrorInvalidValue;
    return RegisteredMemory::instance().add(pointer, size) ? cudaSuccess
                                                           : cudaErrorHostMemoryAlreadyRegistered;
  };
}

cudaError_t cudaHostUnregister(void* pointer) {
  return WARPLINGS_API {
    StreamOrder::instance().host_gives_back(
        {address_of(pointer), RegisteredMemory::instance().size_at(pointer)}, call.name(),
        call.where());
    if (const cudaError_t error = Streams::instance().synchronize_device(current_device());
        error != cudaSuccess) {
      return error;
    }
    return RegisteredMemory::instance().remove(pointer) ? cudaSuccess
                                                        : cudaErrorHostMemoryNotRegistered;
  };
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  return WARPLINGS_API {
    if (device == nullptr) return cudaErrorInvalidValue;
    if (memory_kind(host) == MemoryKind::kRegistered)
      return address_of_registered(call, device, host);
    if (memory_kind(host) != MemoryKind::kPinned) return cudaErrorInvalidValue;
    *device = host;
    return cudaSuccess;
  };
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* host) {
  return WARPLINGS_API {
    if (memory_kind(host) != MemoryKind::kPinned) return cudaErrorInvalidValue;
    *flags = cudaHostAllocMapped;
    return cudaSuccess;
  };
}

cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total) {
  return WARPLINGS_API {
    const DeviceMemory& memory = DeviceMemory::instance();
    if (total != nullptr) *total = memory.bytes_total();
    if (free_bytes != nullptr)
      *free_bytes = memory.bytes_total() - memory.bytes_in_use(current_device());
    return cudaSuccess;
  };
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, size_t, unsigned) {
  return WARPLINGS_API {
    if (Streams::instance().find(stream) == nullptr) return cudaErrorInvalidResourceHandle;
    return is_managed(pointer) ? cudaSuccess : cudaErrorInvalidValue;
  };
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return WARPLINGS_API {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    *attributes = {};
    void* const mutable_pointer = const_cast<void*>(pointer);
    const MemoryKind kind = memory_kind(pointer);
    const bool known = kind == MemoryKind::kRegistered ||
                       DeviceMemory::instance().is_promised_or_live(address_of(pointer), 1);
    if (kind == MemoryKind::kPageable || !known) {
      attributes->type = cudaMemoryTypeUnregistered;
      attributes->device = cudaInvalidDeviceId;
      attributes->hostPointer = mutable_pointer;
      return cudaSuccess;
    }
    attributes->type = kind == MemoryKind::kDevice    ? cudaMemoryTypeDevice
                       : kind == MemoryKind::kManaged ? cudaMemoryTypeManaged
                                                      : cudaMemoryTypeHost;
    attributes->device = device_of(address_of(pointer));
    if (device_can_use(kind)) attributes->devicePointer = mutable_pointer;
    if (host_can_use(kind)) attributes->hostPointer = mutable_pointer;
    return cudaSuccess;
  };
}

}  // extern "C"
