// The CUDA driver API as far as programs reach it through cudaGetDriverEntryPoint: thin forwarders
// to the runtime's implementation. There is no libcuda.
#ifndef WARPLINGS_SIMULATOR_RUNTIME_DRIVER_API_H_
#define WARPLINGS_SIMULATOR_RUNTIME_DRIVER_API_H_

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <string>
#include <utility>
#include <vector>

#include "runtime/error_state.h"

namespace warplings::sim {

// A name and the function behind it.
using DriverEntries = std::vector<std::pair<std::string, void*>>;
void add_driver_device_entries(DriverEntries* entries);  // devices, contexts, errors, versions
void add_driver_memory_entries(DriverEntries* entries);
void add_driver_work_entries(DriverEntries* entries);  // streams, events, modules, launches

// nullptr if the simulator does not have it.
void* find_driver_entry(const std::string& name);

// Codes that only the runtime has are an invalid value to the driver; the others are the same.
CUresult driver_result(cudaError_t error);

// Calls the runtime; its "last error" is none of the driver's business.
template <class Call>
CUresult forward(Call call) {
  const cudaError_t kept = last_error();
  const cudaError_t error = call();
  last_error() = kept;
  return driver_result(error);
}

template <class Function>
void add_entry(DriverEntries* entries, const char* name, Function* function) {
  entries->emplace_back(name, reinterpret_cast<void*>(function));
}

CUcontext context_of(int device);  // its primary context, the only one

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_DRIVER_API_H_
