// The CUDA driver API (driver_calls.def): thin forwarders to the runtime's implementation, for
// programs that ask cudaGetDriverEntryPoint for them and for those that are linked with libcuda.
#ifndef WARPLINGS_SIMULATOR_RUNTIME_DRIVER_API_H_
#define WARPLINGS_SIMULATOR_RUNTIME_DRIVER_API_H_

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <string>

#include "runtime/error_state.h"

namespace warplings::sim {

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

CUcontext context_of(int device);  // its primary context, the only one

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_DRIVER_API_H_
