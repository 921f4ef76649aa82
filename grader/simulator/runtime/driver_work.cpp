#include "runtime/api.h"
#include "runtime/driver_api.h"
#include "runtime/kernel_launch.h"
#include "runtime/registry.h"

namespace warplings::sim {
namespace {

cudaLibrary_t library(CUmodule module) { return reinterpret_cast<cudaLibrary_t>(module); }

CUresult launch(const char* name, const void* return_address, CUfunction function,
                LaunchRequest request) {
  return forward([&] {
    return run_api(name, return_address, OnFault::kRefuse, [&](const ApiCall& call) {
      request.function = function;
      request.registered = Registry::instance().kernel_of(function);
      if (request.registered == nullptr) return cudaErrorInvalidResourceHandle;
      request.config.where = call.where();
      return warplings::sim::launch(request);
    });
  });
}

}  // namespace
}  // namespace warplings::sim

using namespace warplings::sim;

extern "C" {

// ---- streams and events --------------------------------------------------------------------

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return forward([&] { return cudaStreamCreateWithFlags(stream, flags); });
}
CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  return forward([&] { return cudaStreamCreateWithPriority(stream, flags, priority); });
}
CUresult cuStreamDestroy(CUstream stream) {
  return forward([&] { return cudaStreamDestroy(stream); });
}
CUresult cuStreamSynchronize(CUstream stream) {
  return forward([&] { return cudaStreamSynchronize(stream); });
}
CUresult cuStreamQuery(CUstream stream) {
  return forward([&] { return cudaStreamQuery(stream); });
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return forward([&] { return cudaStreamWaitEvent(stream, event, flags); });
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  return forward([&] {
    return cudaStreamIsCapturing(stream, reinterpret_cast<cudaStreamCaptureStatus*>(status));
  });
}
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  return forward([&] { return cudaLaunchHostFunc(stream, function, data); });
}
CUresult cuEventCreate(CUevent* event, unsigned flags) {
  return forward([&] { return cudaEventCreateWithFlags(event, flags); });
}
CUresult cuEventDestroy(CUevent event) {
  return forward([&] { return cudaEventDestroy(event); });
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  return forward([&] { return cudaEventRecord(event, stream); });
}
CUresult cuEventSynchronize(CUevent event) {
  return forward([&] { return cudaEventSynchronize(event); });
}
CUresult cuEventQuery(CUevent event) {
  return forward([&] { return cudaEventQuery(event); });
}
CUresult cuEventElapsedTime(float* ms, CUevent start, CUevent end) {
  return forward([&] { return cudaEventElapsedTime(ms, start, end); });
}

// ---- modules and libraries: the same thing here ------------------------------------------------

CUresult cuModuleLoadData(CUmodule* module, const void* code) {
  return forward([&] {
    return cudaLibraryLoadData(reinterpret_cast<cudaLibrary_t*>(module), code, nullptr, nullptr, 0,
                               nullptr, nullptr, 0);
  });
}
CUresult cuModuleLoadDataEx(CUmodule* module, const void* code, unsigned, CUjit_option*, void**) {
  return cuModuleLoadData(module, code);  // options of a compiler that does not run
}
CUresult cuModuleLoad(CUmodule* module, const char* path) {
  return forward([&] {
    return cudaLibraryLoadFromFile(reinterpret_cast<cudaLibrary_t*>(module), path, nullptr, nullptr,
                                   0, nullptr, nullptr, 0);
  });
}
CUresult cuModuleUnload(CUmodule module) {
  return forward([&] { return cudaLibraryUnload(library(module)); });
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return forward([&] {
    return cudaLibraryGetKernel(reinterpret_cast<cudaKernel_t*>(function), library(module), name);
  });
}
CUresult cuModuleGetGlobal(CUdeviceptr* address, size_t* bytes, CUmodule module, const char* name) {
  return forward([&] {
    return cudaLibraryGetGlobal(reinterpret_cast<void**>(address), bytes, library(module), name);
  });
}
CUresult cuLibraryLoadData(CUlibrary* made, const void* code, CUjit_option*, void**, unsigned,
                           CUlibraryOption*, void**, unsigned) {
  return cuModuleLoadData(reinterpret_cast<CUmodule*>(made), code);
}
CUresult cuLibraryUnload(CUlibrary handle) {
  return cuModuleUnload(reinterpret_cast<CUmodule>(handle));
}
CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary handle, const char* name) {
  return cuModuleGetFunction(reinterpret_cast<CUfunction*>(kernel),
                             reinterpret_cast<CUmodule>(handle), name);
}
CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  *function = reinterpret_cast<CUfunction>(kernel);
  return CUDA_SUCCESS;
}

// ---- launches ----------------------------------------------------------------------------------

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                        CUstream stream, void** arguments, void** extra) {
  LaunchRequest request;
  request.config.grid = {grid_x, grid_y, grid_z};
  request.config.block = {block_x, block_y, block_z};
  request.config.dynamic_shared = shared;
  request.stream = stream;
  request.arguments = arguments;
  request.extra = extra;
  return launch("cuLaunchKernel", __builtin_return_address(0), function, request);
}

// The attributes of driver and runtime have one layout.
CUresult cuLaunchKernelEx(const CUlaunchConfig* given, CUfunction function, void** arguments,
                          void** extra) {
  static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute));
  LaunchRequest request;
  request.config.grid = {given->gridDimX, given->gridDimY, given->gridDimZ};
  request.config.block = {given->blockDimX, given->blockDimY, given->blockDimZ};
  request.config.dynamic_shared = given->sharedMemBytes;
  request.stream = given->hStream;
  request.arguments = arguments;
  request.extra = extra;
  const auto* attributes = reinterpret_cast<const cudaLaunchAttribute*>(given->attrs);
  for (unsigned i = 0; i < given->numAttrs; ++i) {
    const cudaError_t error = apply_attribute(attributes[i], &request.config);
    if (error != cudaSuccess) return driver_result(error);
  }
  return launch("cuLaunchKernelEx", __builtin_return_address(0), function, request);
}

// The two enumerations have the same numbers.
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return forward([&] {
    return cudaFuncSetAttribute(function, static_cast<cudaFuncAttribute>(attribute), value);
  });
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  cudaFuncAttributes all{};
  const CUresult result = forward([&] { return cudaFuncGetAttributes(&all, function); });
  if (result != CUDA_SUCCESS) return result;
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = all.maxThreadsPerBlock;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = static_cast<int>(all.sharedSizeBytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
      *value = static_cast<int>(all.constSizeBytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *value = static_cast<int>(all.localSizeBytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      *value = all.numRegs;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      *value = all.ptxVersion;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = all.binaryVersion;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = all.maxDynamicSharedSizeBytes;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int threads,
                                                     size_t shared) {
  return forward([&] {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared);
  });
}

}  // extern "C"
