// 03/10 Unified memory: one pointer that the host and kernels may both follow.
//   The pages of managed memory lie in host or in device memory, and move when the other side
//   touches them: a fault for every few pages. A prefetch moves them before, at the speed of a
//   copy. What both sides may follow, they must not follow at the same time.
//   TODOs  3
#include "10_unified_memory.h"

cudaError_t prefetch(const void* p, size_t bytes, int destination) {
  //~ // TODO(1): The pages are on their way to `destination` (a device, or cudaCpuDeviceId), with the
  //~ // call that this version of CUDA has: it changed with CUDART_VERSION 13000 (about 8 lines).
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
  //~ // Still TODO(3): Each element is squared, and none past the end (2 lines).
  //~begin 3
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= x[i];
  //~end
}

// Where page faults of a device are not possible (Windows, WSL2), all pages move at the launch, and
// a prefetch is an error.
inline bool pages_move_one_by_one(int device) {
  int yes = 0;
  cudaDeviceGetAttribute(&yes, cudaDevAttrConcurrentManagedAccess, device);
  return yes != 0;
}

cudaError_t square_managed(int n, Fill fill, Use use, void* context) {
  int device = 0;
  float* x = nullptr;
  cudaError_t error = cudaGetDevice(&device);
  //~ // TODO(2): In the place of the next line: x is n floats that both sides may follow; without them
  //~ // nothing below may happen (1 line).
  //~ if (x == nullptr) error = cudaErrorMemoryAllocation;
  //~begin 2
  if (error == cudaSuccess) error = cudaMallocManaged(&x, n * sizeof(float));
  //~end
  if (error != cudaSuccess) return error;

  fill(x, n, context);
  //~ // TODO(3): All elements are squared when the host reads them. Where pages_move_one_by_one(device)
  //~ // no side waits for single pages of the other. The first error is kept (about 9 lines).
  //~ square<<<1, 1>>>(x, n);
  //~begin 3
  constexpr int kBlock = 256;  // threads
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
