// 11/03, given: what Python calls in the shared object. The names are C's, without the types that
// C++ adds to them, so that ctypes finds them. Every function but error_text returns a cudaError_t.
#include <cuda_runtime.h>

#include "04_saxpy.h"

extern "C" {

// Sets *pointer to the address of `bytes` bytes on the device.
int device_alloc(void** pointer, size_t bytes) { return cudaMalloc(pointer, bytes); }

int device_free(void* pointer) { return cudaFree(pointer); }

// Either side may be on the host or on the device; the runtime knows by the address.
int copy(void* to, const void* from, size_t bytes) {
  return cudaMemcpy(to, from, bytes, cudaMemcpyDefault);
}

// y = a * x + y, n floats each on the device; waits for the kernel.
int saxpy(float a, const float* x, float* y, int n) {
  constexpr int kBlock = 256, kMostBlocks = 1024;
  launch_saxpy(a, x, y, n, kBlock, kMostBlocks);
  const cudaError_t launched = cudaGetLastError();
  return launched != cudaSuccess ? launched : cudaDeviceSynchronize();
}

const char* error_text(int error) { return cudaGetErrorString(static_cast<cudaError_t>(error)); }

}  // extern "C"
