// Names and texts of the CUDA errors.
#ifndef WARPLINGS_SIMULATOR_CORE_ERROR_NAMES_H_
#define WARPLINGS_SIMULATOR_CORE_ERROR_NAMES_H_

#include <cuda_runtime_api.h>

namespace warplings::sim {

const char* error_name(cudaError_t error);  // "cudaErrorInvalidValue"
const char* error_text(cudaError_t error);  // "invalid argument"

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_CORE_ERROR_NAMES_H_
