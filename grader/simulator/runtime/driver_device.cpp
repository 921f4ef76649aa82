#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>

#include "core/error_names.h"
#include "core/machine.h"
#include "memory/device_memory.h"
#include "runtime/api.h"
#include "runtime/device_model.h"
#include "runtime/device_state.h"
#include "runtime/driver_api.h"

// Contexts have no state of their own: their address says which device is meant.
struct CUctx_st {
  int device;
};

namespace warplings::sim {
namespace {

// Contexts that were pushed over others; the current device says which one is on top.
std::vector<int>& pushed_devices() {
  thread_local std::vector<int> stack;
  return stack;
}

}  // namespace

CUcontext context_of(int device) {
  struct Contexts {
    CUctx_st of_device[kMaxDevices];
  };
  CUctx_st& context = Machine::get<Contexts>().of_device[device];
  context.device = device;
  return &context;
}

}  // namespace warplings::sim

using namespace warplings::sim;

extern "C" {

CUresult cuGetErrorString(CUresult error, const char** text) {
  *text = error_text(static_cast<cudaError_t>(error));
  return CUDA_SUCCESS;
}
// The driver's names of the codes that programs meet most.
CUresult cuGetErrorName(CUresult error, const char** name) {
  static const std::map<int, const char*> kNames = {
      {0, "CUDA_SUCCESS"},
      {1, "CUDA_ERROR_INVALID_VALUE"},
      {2, "CUDA_ERROR_OUT_OF_MEMORY"},
      {3, "CUDA_ERROR_NOT_INITIALIZED"},
      {100, "CUDA_ERROR_NO_DEVICE"},
      {101, "CUDA_ERROR_INVALID_DEVICE"},
      {200, "CUDA_ERROR_INVALID_IMAGE"},
      {201, "CUDA_ERROR_INVALID_CONTEXT"},
      {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
      {218, "CUDA_ERROR_INVALID_PTX"},
      {301, "CUDA_ERROR_FILE_NOT_FOUND"},
      {400, "CUDA_ERROR_INVALID_HANDLE"},
      {500, "CUDA_ERROR_NOT_FOUND"},
      {600, "CUDA_ERROR_NOT_READY"},
      {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
      {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
      {702, "CUDA_ERROR_LAUNCH_TIMEOUT"},
      {710, "CUDA_ERROR_ASSERT"},
      {716, "CUDA_ERROR_MISALIGNED_ADDRESS"},
      {719, "CUDA_ERROR_LAUNCH_FAILED"},
      {720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"},
      {801, "CUDA_ERROR_NOT_SUPPORTED"},
  };
  const auto found = kNames.find(static_cast<int>(error));
  *name = found == kNames.end() ? error_name(static_cast<cudaError_t>(error)) : found->second;
  return CUDA_SUCCESS;
}

CUresult cuInit(unsigned flags) { return flags == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; }
CUresult cuDriverGetVersion(int* version) {
  return forward([&] { return cudaDriverGetVersion(version); });
}
CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  if (!is_device(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int* count) {
  return forward([&] { return cudaGetDeviceCount(count); });
}
CUresult cuDeviceGetName(char* name, int size, CUdevice device) {
  cudaDeviceProp properties;
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  fill_properties(device, &properties);
  std::snprintf(name, static_cast<size_t>(size), "%s", properties.name);
  return CUDA_SUCCESS;
}
// The two enumerations have the same numbers.
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return forward([&] {
    return cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(attribute), device);
  });
}
CUresult cuDeviceTotalMem(size_t* bytes, CUdevice device) {
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *bytes = DeviceMemory::instance().bytes_total();
  return CUDA_SUCCESS;
}
CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  return forward([&] {
    const cudaError_t error =
        cudaDeviceGetAttribute(major, cudaDevAttrComputeCapabilityMajor, device);
    if (error != cudaSuccess) return error;
    return cudaDeviceGetAttribute(minor, cudaDevAttrComputeCapabilityMinor, device);
  });
}
CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  return forward([&] { return cudaDeviceCanAccessPeer(can, device, peer); });
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *context = context_of(device);
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return is_device(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *flags = 0;
  *active = 1;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = context_of(current_device());
  return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext context) {
  current_device() = context == nullptr ? 0 : context->device;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice* device) {
  *device = current_device();
  return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent(CUcontext context) {
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  pushed_devices().push_back(current_device());
  current_device() = context->device;
  return CUDA_SUCCESS;
}
CUresult cuCtxPopCurrent(CUcontext* context) {
  if (pushed_devices().empty()) return CUDA_ERROR_INVALID_CONTEXT;
  if (context != nullptr) *context = context_of(current_device());
  current_device() = pushed_devices().back();
  pushed_devices().pop_back();
  return CUDA_SUCCESS;
}
CUresult cuCtxSynchronize() {
  return forward([] { return cudaDeviceSynchronize(); });
}

// A device has one context, the primary one: making another is making that the current one.
CUresult cuCtxCreate(CUcontext* context, CUctxCreateParams*, unsigned, CUdevice device) {
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *context = context_of(device);
  return cuCtxPushCurrent(*context);
}
CUresult cuCtxDestroy(CUcontext context) {
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (context->device == current_device() && !pushed_devices().empty()) cuCtxPopCurrent(nullptr);
  return CUDA_SUCCESS;
}

}  // extern "C"
