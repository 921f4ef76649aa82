#include "runtime/api.h"
#include "runtime/driver_api.h"
#include "runtime/kernel_launch.h"
#include "runtime/registry.h"

namespace warplings::sim {
namespace {

// ---- streams and events --------------------------------------------------------------------

CUresult stream_create(CUstream* stream, unsigned flags) {
  return forward([&] { return cudaStreamCreateWithFlags(stream, flags); });
}
CUresult stream_create_with_priority(CUstream* stream, unsigned flags, int priority) {
  return forward([&] { return cudaStreamCreateWithPriority(stream, flags, priority); });
}
CUresult stream_destroy(CUstream stream) {
  return forward([&] { return cudaStreamDestroy(stream); });
}
CUresult stream_synchronize(CUstream stream) {
  return forward([&] { return cudaStreamSynchronize(stream); });
}
CUresult stream_query(CUstream stream) {
  return forward([&] { return cudaStreamQuery(stream); });
}
CUresult stream_wait_event(CUstream stream, CUevent event, unsigned flags) {
  return forward([&] { return cudaStreamWaitEvent(stream, event, flags); });
}
CUresult stream_is_capturing(CUstream stream, CUstreamCaptureStatus* status) {
  return forward([&] {
    return cudaStreamIsCapturing(stream, reinterpret_cast<cudaStreamCaptureStatus*>(status));
  });
}
CUresult launch_host_function(CUstream stream, CUhostFn function, void* data) {
  return forward([&] { return cudaLaunchHostFunc(stream, function, data); });
}
CUresult event_create(CUevent* event, unsigned flags) {
  return forward([&] { return cudaEventCreateWithFlags(event, flags); });
}
CUresult event_destroy(CUevent event) {
  return forward([&] { return cudaEventDestroy(event); });
}
CUresult event_record(CUevent event, CUstream stream) {
  return forward([&] { return cudaEventRecord(event, stream); });
}
CUresult event_synchronize(CUevent event) {
  return forward([&] { return cudaEventSynchronize(event); });
}
CUresult event_query(CUevent event) {
  return forward([&] { return cudaEventQuery(event); });
}
CUresult event_elapsed_time(float* ms, CUevent start, CUevent end) {
  return forward([&] { return cudaEventElapsedTime(ms, start, end); });
}

// ---- modules and libraries: the same thing here ------------------------------------------------

cudaLibrary_t library(CUmodule module) { return reinterpret_cast<cudaLibrary_t>(module); }

CUresult module_load_data(CUmodule* module, const void* code) {
  return forward([&] {
    return cudaLibraryLoadData(reinterpret_cast<cudaLibrary_t*>(module), code, nullptr, nullptr, 0,
                               nullptr, nullptr, 0);
  });
}
CUresult module_load_data_ex(CUmodule* module, const void* code, unsigned, CUjit_option*, void**) {
  return module_load_data(module, code);  // options of a compiler that does not run
}
CUresult module_load(CUmodule* module, const char* path) {
  return forward([&] {
    return cudaLibraryLoadFromFile(reinterpret_cast<cudaLibrary_t*>(module), path, nullptr, nullptr,
                                   0, nullptr, nullptr, 0);
  });
}
CUresult module_unload(CUmodule module) {
  return forward([&] { return cudaLibraryUnload(library(module)); });
}
CUresult module_get_function(CUfunction* function, CUmodule module, const char* name) {
  return forward([&] {
    return cudaLibraryGetKernel(reinterpret_cast<cudaKernel_t*>(function), library(module), name);
  });
}
CUresult module_get_global(CUdeviceptr* address, size_t* bytes, CUmodule module, const char* name) {
  return forward([&] {
    return cudaLibraryGetGlobal(reinterpret_cast<void**>(address), bytes, library(module), name);
  });
}
CUresult library_load_data(CUlibrary* made, const void* code, CUjit_option*, void**, unsigned,
                           CUlibraryOption*, void**, unsigned) {
  return module_load_data(reinterpret_cast<CUmodule*>(made), code);
}
CUresult library_unload(CUlibrary handle) {
  return module_unload(reinterpret_cast<CUmodule>(handle));
}
CUresult library_get_kernel(CUkernel* kernel, CUlibrary handle, const char* name) {
  return module_get_function(reinterpret_cast<CUfunction*>(kernel),
                             reinterpret_cast<CUmodule>(handle), name);
}
CUresult kernel_get_function(CUfunction* function, CUkernel kernel) {
  *function = reinterpret_cast<CUfunction>(kernel);
  return CUDA_SUCCESS;
}

// ---- launches ----------------------------------------------------------------------------------

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

CUresult launch_kernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
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
CUresult launch_kernel_ex(const CUlaunchConfig* given, CUfunction function, void** arguments,
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
CUresult set_function_attribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return forward([&] {
    return cudaFuncSetAttribute(function, static_cast<cudaFuncAttribute>(attribute), value);
  });
}

CUresult get_function_attribute(int* value, CUfunction_attribute attribute, CUfunction function) {
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

CUresult occupancy(int* blocks, CUfunction function, int threads, size_t shared) {
  return forward([&] {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared);
  });
}

}  // namespace

void add_driver_work_entries(DriverEntries* entries) {
  add_entry(entries, "cuStreamCreate", stream_create);
  add_entry(entries, "cuStreamCreateWithPriority", stream_create_with_priority);
  add_entry(entries, "cuStreamDestroy", stream_destroy);
  add_entry(entries, "cuStreamSynchronize", stream_synchronize);
  add_entry(entries, "cuStreamQuery", stream_query);
  add_entry(entries, "cuStreamWaitEvent", stream_wait_event);
  add_entry(entries, "cuStreamIsCapturing", stream_is_capturing);
  add_entry(entries, "cuLaunchHostFunc", launch_host_function);
  add_entry(entries, "cuEventCreate", event_create);
  add_entry(entries, "cuEventDestroy", event_destroy);
  add_entry(entries, "cuEventRecord", event_record);
  add_entry(entries, "cuEventSynchronize", event_synchronize);
  add_entry(entries, "cuEventQuery", event_query);
  add_entry(entries, "cuEventElapsedTime", event_elapsed_time);
  add_entry(entries, "cuModuleLoad", module_load);
  add_entry(entries, "cuModuleLoadData", module_load_data);
  add_entry(entries, "cuModuleLoadDataEx", module_load_data_ex);
  add_entry(entries, "cuModuleUnload", module_unload);
  add_entry(entries, "cuModuleGetFunction", module_get_function);
  add_entry(entries, "cuModuleGetGlobal", module_get_global);
  add_entry(entries, "cuLibraryLoadData", library_load_data);
  add_entry(entries, "cuLibraryUnload", library_unload);
  add_entry(entries, "cuLibraryGetKernel", library_get_kernel);
  add_entry(entries, "cuKernelGetFunction", kernel_get_function);
  add_entry(entries, "cuLaunchKernel", launch_kernel);
  add_entry(entries, "cuLaunchKernelEx", launch_kernel_ex);
  add_entry(entries, "cuFuncSetAttribute", set_function_attribute);
  add_entry(entries, "cuFuncGetAttribute", get_function_attribute);
  add_entry(entries, "cuOccupancyMaxActiveBlocksPerMultiprocessor", occupancy);
}

}  // namespace warplings::sim
