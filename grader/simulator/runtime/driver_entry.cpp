// cudaGetDriverEntryPoint: the functions of the driver API by name.
#include <map>

#include "runtime/api.h"
#include "runtime/device_model.h"
#include "runtime/driver_api.h"

namespace warplings::sim {
namespace {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // cuDeviceComputeCapability
const std::map<std::string, void*>& entries() {
  static const auto* const table = [] {
    return new std::map<std::string, void*>{
#define DRIVER_CALL(name) {#name, reinterpret_cast<void*>(&name)},
#include "runtime/driver_calls.def"
#undef DRIVER_CALL
    };
  }();
  return *table;
}
#pragma GCC diagnostic pop

// Functions for which it matters what the null stream means.
bool takes_stream(const std::string& name) {
  for (const char* start : {"cuMemcpy", "cuMemset", "cuStream", "cuLaunch", "cuEventRecord",
                            "cuMemAllocAsync", "cuMemFreeAsync"}) {
    if (name.rfind(start, 0) == 0) return true;
  }
  return false;
}

cudaError_t entry_point(const ApiCall& call, const char* name, void** function,
                        unsigned long long flags, unsigned version,
                        cudaDriverEntryPointQueryResult* status) {
  if (name == nullptr || function == nullptr) return cudaErrorInvalidValue;
  *function = nullptr;
  if (flags == cudaEnablePerThreadDefaultStream && takes_stream(name)) {
    call.report("api", "not-simulated",
                call.description() +
                    " asks for functions whose null stream is one of the thread, which the "
                    "simulator does not have in the driver API. It returned "
                    "cudaErrorNotSupported. Pass cudaStreamPerThread to the ordinary ones.");
    return cudaErrorNotSupported;
  }
  *function = find_driver_entry(name);
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSuccess;
  if (*function == nullptr) {
    found = cudaDriverEntryPointSymbolNotFound;
  } else if (version > DeviceModel::kVersion) {
    *function = nullptr;
    found = cudaDriverEntryPointVersionNotSufficent;
  }
  if (status == nullptr) {
    return found == cudaDriverEntryPointSuccess ? cudaSuccess : cudaErrorSymbolNotFound;
  }
  *status = found;
  return cudaSuccess;
}

}  // namespace

void* find_driver_entry(const std::string& name) {
  const auto found = entries().find(name);
  return found == entries().end() ? nullptr : found->second;
}

CUresult driver_result(cudaError_t error) {
  switch (error) {
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidSymbol:
    case cudaErrorInvalidMemcpyDirection:
    case cudaErrorInvalidDeviceFunction:
      return CUDA_ERROR_INVALID_VALUE;
    default:
      return static_cast<CUresult>(error);
  }
}

}  // namespace warplings::sim

using namespace warplings::sim;

extern "C" {

CUresult cuGetProcAddress(const char* name, void** function, int, cuuint64_t,
                          CUdriverProcAddressQueryResult* status) {
  *function = find_driver_entry(name);
  if (status != nullptr) {
    *status =
        *function == nullptr ? CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND : CU_GET_PROC_ADDRESS_SUCCESS;
  }
  return *function == nullptr ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}

// Tables for NVIDIA's own libraries, by numbers that are not documented. NVRTC asks for one, and
// works without it; it does not look whether the function exists.
CUresult cuGetExportTable(const void** table, const CUuuid*) {
  *table = nullptr;
  return CUDA_ERROR_NOT_FOUND;
}

cudaError_t cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* status) {
  return WARPLINGS_API {
    return entry_point(call, name, function, flags, DeviceModel::kVersion, status);
  };
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version,
                                             unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* status) {
  return WARPLINGS_API { return entry_point(call, name, function, flags, version, status); };
}

}  // extern "C"
