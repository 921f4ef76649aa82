#include "memory/device_memory.h"
#include "runtime/api.h"
#include "runtime/copy.h"
#include "runtime/driver_api.h"

namespace warplings::sim {
namespace {

void* pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

// `count` elements of two or four bytes.
CUresult fill(const char* name, const void* caller, CUdeviceptr to, unsigned value, size_t count,
              unsigned bytes, CUstream stream) {
  if (to % bytes != 0) return CUDA_ERROR_INVALID_VALUE;
  return forward([&] {
    return run_api(name, caller, OnFault::kRefuse, [&](const ApiCall& call) {
      const size_t row = count * bytes;
      return start_fill(call, {pointer(to), {row, row}, {row, 1, 1}, value, bytes}, stream);
    });
  });
}

}  // namespace
}  // namespace warplings::sim

using namespace warplings::sim;

extern "C" {

CUresult cuMemAlloc(CUdeviceptr* address, size_t bytes) {
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  return forward([&] { return cudaMalloc(reinterpret_cast<void**>(address), bytes); });
}
CUresult cuMemFree(CUdeviceptr address) {
  return forward([&] { return cudaFree(pointer(address)); });
}
CUresult cuMemAllocManaged(CUdeviceptr* address, size_t bytes, unsigned flags) {
  return forward(
      [&] { return cudaMallocManaged(reinterpret_cast<void**>(address), bytes, flags); });
}
CUresult cuMemAllocHost(void** address, size_t bytes) {
  return forward([&] { return cudaMallocHost(address, bytes); });
}
CUresult cuMemFreeHost(void* address) {
  return forward([&] { return cudaFreeHost(address); });
}
CUresult cuMemAllocAsync(CUdeviceptr* address, size_t bytes, CUstream stream) {
  return forward([&] { return cudaMallocAsync(reinterpret_cast<void**>(address), bytes, stream); });
}
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  return forward([&] { return cudaFreeAsync(pointer(address), stream); });
}
CUresult cuMemGetInfo(size_t* free_bytes, size_t* total) {
  return forward([&] { return cudaMemGetInfo(free_bytes, total); });
}

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return forward([&] { return cudaMemcpy(pointer(to), pointer(from), bytes, cudaMemcpyDefault); });
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return forward([&] {
    return cudaMemcpyAsync(pointer(to), pointer(from), bytes, cudaMemcpyDefault, stream);
  });
}
CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, size_t bytes) {
  return forward([&] { return cudaMemcpy(pointer(to), from, bytes, cudaMemcpyHostToDevice); });
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  return forward(
      [&] { return cudaMemcpyAsync(pointer(to), from, bytes, cudaMemcpyHostToDevice, stream); });
}
CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, size_t bytes) {
  return forward([&] { return cudaMemcpy(to, pointer(from), bytes, cudaMemcpyDeviceToHost); });
}
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return forward(
      [&] { return cudaMemcpyAsync(to, pointer(from), bytes, cudaMemcpyDeviceToHost, stream); });
}
CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return forward(
      [&] { return cudaMemcpy(pointer(to), pointer(from), bytes, cudaMemcpyDeviceToDevice); });
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return cuMemcpyAsync(to, from, bytes, stream);
}
CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, size_t bytes) {
  return forward([&] { return cudaMemset(pointer(to), value, bytes); });
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream) {
  return forward([&] { return cudaMemsetAsync(pointer(to), value, bytes, stream); });
}
CUresult cuMemsetD16(CUdeviceptr to, unsigned short value, size_t count) {
  return fill("cuMemsetD16", __builtin_return_address(0), to, value, count, 2, nullptr);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
  return fill("cuMemsetD16Async", __builtin_return_address(0), to, value, count, 2, stream);
}
CUresult cuMemsetD32(CUdeviceptr to, unsigned value, size_t count) {
  return fill("cuMemsetD32", __builtin_return_address(0), to, value, count, 4, nullptr);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
  return fill("cuMemsetD32Async", __builtin_return_address(0), to, value, count, 4, stream);
}

CUresult cuMemGetAddressRange(CUdeviceptr* base, size_t* bytes, CUdeviceptr address) {
  const DeviceMemory& memory = DeviceMemory::instance();
  if (!memory.accessible(address, 1)) return CUDA_ERROR_NOT_FOUND;
  const Allocation* allocation = memory.allocation_at(address);
  if (base != nullptr) *base = allocation->start;
  if (bytes != nullptr) *bytes = allocation->size;
  return CUDA_SUCCESS;
}

CUresult cuPointerGetAttribute(void* value, CUpointer_attribute attribute, CUdeviceptr address) {
  cudaPointerAttributes known{};
  const CUresult result =
      forward([&] { return cudaPointerGetAttributes(&known, pointer(address)); });
  if (result != CUDA_SUCCESS) return result;
  if (known.type == cudaMemoryTypeUnregistered) return CUDA_ERROR_INVALID_VALUE;
  const Allocation* allocation = DeviceMemory::instance().allocation_at(address);
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *static_cast<CUmemorytype*>(value) =
          known.type == cudaMemoryTypeHost ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      *static_cast<void**>(value) = known.devicePointer;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      *static_cast<void**>(value) = known.hostPointer;
      return known.hostPointer == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      *static_cast<CUcontext*>(value) = context_of(known.device);
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      *static_cast<int*>(value) = known.device;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      *static_cast<unsigned*>(value) = known.type == cudaMemoryTypeManaged ? 1 : 0;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      if (allocation == nullptr) return CUDA_ERROR_INVALID_VALUE;
      *static_cast<unsigned long long*>(value) = allocation->id;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      if (allocation == nullptr) return CUDA_ERROR_INVALID_VALUE;
      *static_cast<CUdeviceptr*>(value) = allocation->start;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      if (allocation == nullptr) return CUDA_ERROR_INVALID_VALUE;
      *static_cast<size_t*>(value) = allocation->size;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

}  // extern "C"
