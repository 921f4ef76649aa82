// Launching kernels in the CUDA runtime API.
#include <cuda_runtime_api.h>

#include "runtime/api.h"
#include "runtime/call_configuration.h"
#include "runtime/kernel_launch.h"
#include "runtime/registry.h"

using namespace warplings::sim;

namespace {

Dim3 to_dim3(const dim3& size) { return {size.x, size.y, size.z}; }

// Launches that name the host function. `<<<>>>` of older code paths also comes here: then the
// position was recorded with the configuration.
cudaError_t launch_function(const ApiCall& call, const void* function, LaunchRequest request) {
  if (function == nullptr) return cudaErrorInvalidDeviceFunction;
  request.registered = Registry::instance().kernel_of(function);
  if (request.registered == nullptr) return cudaErrorInvalidResourceHandle;
  request.function = function;
  Position recorded;
  request.returned_to_program = !take_launch_position(&recorded);
  request.config.where = request.returned_to_program ? call.where() : recorded;
  return launch(request);
}

LaunchRequest make_request(dim3 grid, dim3 block, void** arguments, size_t shared,
                           cudaStream_t stream, bool cooperative) {
  LaunchRequest request;
  request.config.grid = to_dim3(grid);
  request.config.block = to_dim3(block);
  request.config.dynamic_shared = shared;
  request.config.cooperative = cooperative;
  request.arguments = arguments;
  request.stream = stream;
  return request;
}

cudaError_t apply_attributes(const cudaLaunchConfig_t& from, LaunchConfig* config) {
  for (unsigned i = 0; i < from.numAttrs; ++i) {
    const cudaError_t error = apply_attribute(from.attrs[i], config);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                             size_t shared, cudaStream_t stream) {
  return WARPLINGS_API {
    return launch_function(call, function,
                           make_request(grid, block, arguments, shared, stream, false));
  };
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block,
                                        void** arguments, size_t shared, cudaStream_t stream) {
  return WARPLINGS_API {
    return launch_function(call, function,
                           make_request(grid, block, arguments, shared, stream, true));
  };
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                void** arguments) {
  return WARPLINGS_API {
    if (config == nullptr) return cudaErrorInvalidValue;
    LaunchRequest request = make_request(config->gridDim, config->blockDim, arguments,
                                         config->dynamicSmemBytes, config->stream, false);
    const cudaError_t error = apply_attributes(*config, &request.config);
    return error == cudaSuccess ? launch_function(call, function, request) : error;
  };
}

// nvcc's code for <<<>>> passes the handle of __cudaGetKernel.
cudaError_t __cudaLaunchKernel(cudaKernel_t handle, dim3 grid, dim3 block, void** arguments,
                               size_t shared, cudaStream_t stream) {
  return WARPLINGS_API {
    LaunchRequest request = make_request(grid, block, arguments, shared, stream, false);
    take_launch_position(&request.config.where);
    request.registered = reinterpret_cast<RegisteredKernel*>(handle);
    request.returned_to_program = false;
    if (request.registered == nullptr) return cudaErrorInvalidDeviceFunction;
    return launch(request);
  };
}

}  // extern "C"
