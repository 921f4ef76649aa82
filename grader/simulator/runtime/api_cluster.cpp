// Clusters in the CUDA runtime API: how many fit, and how large they may be.
#include <cuda_runtime_api.h>

#include <algorithm>

#include "runtime/api.h"
#include "runtime/device_state.h"
#include "runtime/launch_refusal.h"
#include "runtime/registry.h"

using namespace warplings::sim;

namespace {

// The cluster of a launch: what its attributes say, or the kernel's own.
Dim3 cluster_of(const cudaLaunchConfig_t& config, const Kernel& kernel) {
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    if (config.attrs[i].id != cudaLaunchAttributeClusterDimension) continue;
    const auto& size = config.attrs[i].val.clusterDim;
    return {size.x, size.y, size.z};
  }
  return kernel.cluster.x != 0 ? kernel.cluster : Dim3{};
}

// Blocks of this configuration that the device holds at a time; -1: it refuses the launch.
int64_t resident(const RegisteredKernel& registered, const Kernel& kernel,
                 const cudaLaunchConfig_t& config, Dim3 cluster) {
  LaunchConfig asked;
  asked.grid = cluster;  // the smallest grid of such blocks
  asked.block = {config.blockDim.x, config.blockDim.y, config.blockDim.z};
  asked.cluster = cluster;
  asked.dynamic_shared = config.dynamicSmemBytes;
  const Refusal refusal =
      check_launch(kernel, asked, registered.max_dynamic_shared[current_device()].value_or(-1),
                   registered.large_clusters);
  if (refusal.error != cudaSuccess) return -1;
  return resident_blocks_of(kernel, static_cast<int>(asked.block.count()), asked.dynamic_shared);
}

template <class Use>
cudaError_t with_kernel(const void* function, Use use) {
  RegisteredKernel* registered = Registry::instance().kernel_of(function);
  if (registered == nullptr) return cudaErrorInvalidDeviceFunction;
  const Kernel* kernel = nullptr;
  const cudaError_t error = Registry::instance().resolve(registered, &kernel);
  return error == cudaSuccess ? use(*registered, *kernel) : error;
}

}  // namespace

extern "C" {

// Without the card's map of processors to groups: clusters of any size fill it.
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* function,
                                           const cudaLaunchConfig_t* config) {
  return WARPLINGS_API {
    if (clusters == nullptr || config == nullptr) return cudaErrorInvalidValue;
    return with_kernel(function, [&](RegisteredKernel& registered, const Kernel& kernel) {
      const Dim3 cluster = cluster_of(*config, kernel);
      const int64_t blocks = resident(registered, kernel, *config, cluster);
      if (blocks < 0) return cudaErrorInvalidClusterSize;
      *clusters = static_cast<int>(blocks / static_cast<int64_t>(cluster.count()));
      return cudaSuccess;
    });
  };
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int* size, const void* function,
                                                 const cudaLaunchConfig_t* config) {
  return WARPLINGS_API {
    if (size == nullptr || config == nullptr) return cudaErrorInvalidValue;
    return with_kernel(function, [&](RegisteredKernel& registered, const Kernel& kernel) {
      *size = 0;
      for (const unsigned blocks : {16u, 8u, 4u, 2u, 1u}) {
        const int64_t fit = resident(registered, kernel, *config, {blocks, 1, 1});
        if (fit >= blocks) *size = std::max(*size, static_cast<int>(blocks));
      }
      return *size > 0 ? cudaSuccess : cudaErrorInvalidConfiguration;
    });
  };
}

}  // extern "C"
