// From a launch that the program asks for to work in a stream.
#ifndef WARPLINGS_SIMULATOR_RUNTIME_KERNEL_LAUNCH_H_
#define WARPLINGS_SIMULATOR_RUNTIME_KERNEL_LAUNCH_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "exec/launch.h"
#include "runtime/registry.h"
#include "runtime/stream.h"

namespace warplings::sim {

struct LaunchRequest {
  RegisteredKernel* registered = nullptr;
  const void* function = nullptr;  // what the program calls it; nullptr: the handle
  LaunchConfig config;
  void** arguments = nullptr;
  void** extra = nullptr;  // the other form: one buffer with all arguments
  cudaStream_t stream = nullptr;
  bool returned_to_program = true;  // false for <<<>>>, which drops the error
};

// A kernel with all that its launch needs; the arguments have been copied.
struct KernelWork {
  void* function = nullptr;  // what the program calls it
  const Kernel* kernel = nullptr;
  LaunchConfig config;
  std::vector<uint8_t> parameters;
};

// Checks the request against the limits of the device (a refusal is reported) and copies arguments.
cudaError_t prepare_launch(const LaunchRequest& request, KernelWork* work);
WorkItem work_item(KernelWork work);

// Prepares and gives it to the stream, or to the graph that the stream is captured into.
cudaError_t launch(const LaunchRequest& request);

// An attribute of cudaLaunchKernelExC or of a kernel node: refused where the simulator lacks it.
cudaError_t apply_attribute(const cudaLaunchAttribute& attribute, LaunchConfig* config);

cudaError_t error_of(LaunchStatus status);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_KERNEL_LAUNCH_H_
