// Another right answer: one stream of its own for prefetches and kernel, a grid-stride loop, and a
// test of the version the other way round.
#include "10_unified_memory.h"

static cudaError_t move(const void* p, size_t bytes, int to, cudaStream_t stream) {
#if CUDART_VERSION < 13000
  return cudaMemPrefetchAsync(p, bytes, to, stream);
#else
  const cudaMemLocation host = {cudaMemLocationTypeHost, 0};
  const cudaMemLocation device = {cudaMemLocationTypeDevice, to};
  return cudaMemPrefetchAsync(p, bytes, to < 0 ? host : device, 0, stream);
#endif
}

cudaError_t prefetch(const void* p, size_t bytes, int destination) {
  return move(p, bytes, destination, nullptr);
}

__global__ void square_in_strides(float* x, int n) {
  const unsigned stride = gridDim.x * blockDim.x, end = n;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < end; i += stride) {
    x[i] = x[i] * x[i];
  }
}

cudaError_t square_managed(int n, Fill fill, Use use, void* context) {
  const size_t bytes = n * sizeof(float);
  float* x = nullptr;
  int device = 0, moves = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) {
    error = cudaDeviceGetAttribute(&moves, cudaDevAttrConcurrentManagedAccess, device);
  }
  if (error == cudaSuccess) error = cudaMallocManaged(&x, bytes);
  if (error != cudaSuccess) return error;
  fill(x, n, context);
  cudaStream_t stream = nullptr;
  error = cudaStreamCreate(&stream);
  if (error == cudaSuccess) {
    if (moves != 0) error = move(x, bytes, device, stream);
    if (error == cudaSuccess) {
      square_in_strides<<<64, 128, 0, stream>>>(x, n);
      error = cudaGetLastError();
    }
    if (error == cudaSuccess && moves != 0) error = move(x, bytes, cudaCpuDeviceId, stream);
    if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
    if (error == cudaSuccess) use(x, n, context);
    cudaStreamDestroy(stream);
  }
  cudaFree(x);
  return error;
}
