// 03/10 Unified memory: one pointer that the host and kernels may both follow.
//   The pages of managed memory lie in host or in device memory, and move when the other side
//   touches them: a fault for every few pages. A prefetch moves them before, at the speed of a
//   copy. What both sides may follow, they must not follow at the same time.
//   TODOs  3
#include "10_unified_memory.h"

cudaError_t prefetch(const void* p, size_t bytes, int destination) {
  //~ // TODO(1): Call cudaMemPrefetchAsync, whose parameters changed with CUDA 13: before, the
  //~ // destination was a number (about 8 lines, with #if CUDART_VERSION >= 13000).
  //~ return cudaErrorNotSupported;
  //~begin 1
#if CUDART_VERSION >= 13000
  cudaMemLocation location = {};
  const bool to_host = destination == cudaCpuDeviceId;
  location.type = to_host ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  location.id = to_host ? 0 : destination;
  return cudaMemPrefetchAsync(p, bytes, location, 0, nullptr);
#else
  return cudaMemPrefetchAsync(p, bytes, destination, nullptr);
#endif
  //~end
}

__global__ void square(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= x[i];
}

// Where page faults of a device are not possible (Windows, WSL2), all pages move at the launch, and
// a prefetch is an error.
inline bool pages_move_one_by_one(int device) {
  int yes = 0;
  cudaDeviceGetAttribute(&yes, cudaDevAttrConcurrentManagedAccess, device);
  return yes != 0;
}

cudaError_t square_managed(int n, Fill fill, Use use, void* context) {
  constexpr int kBlock = 256;  // threads
  int device = 0;
  float* x = nullptr;
  cudaError_t error = cudaGetDevice(&device);
  //~ // TODO(2): Allocate x as managed memory; without it nothing below may happen (2 lines).
  //~ if (x == nullptr) error = cudaErrorMemoryAllocation;
  //~begin 2
  if (error == cudaSuccess) error = cudaMallocManaged(&x, n * sizeof(float));
  //~end
  if (error != cudaSuccess) return error;

  fill(x, n, context);
  //~ // TODO(3): If pages_move_one_by_one(device), prefetch x to the device before the launch and to
  //~ // the host after it. Wait, and only then let the host read (about 8 lines). Keep the first error.
  //~ square<<<(n - 1) / kBlock + 1, kBlock>>>(x, n);
  //~begin 3
  const bool moves = pages_move_one_by_one(device);
  if (moves) error = prefetch(x, n * sizeof(float), device);
  if (error == cudaSuccess) {
    square<<<(n - 1) / kBlock + 1, kBlock>>>(x, n);
    error = cudaGetLastError();
  }
  if (error == cudaSuccess && moves) error = prefetch(x, n * sizeof(float), cudaCpuDeviceId);
  // A launch and a prefetch are only queued: until here the pages may belong to the device.
  if (error == cudaSuccess) error = cudaDeviceSynchronize();
  //~end
  if (error == cudaSuccess) use(x, n, context);

  const cudaError_t freed = cudaFree(x);
  return error != cudaSuccess ? error : freed;
}
