// 06/01 Pinned copies: host memory that the copy engine reads by itself, without the CPU.
//   h_x        n floats in host memory;  d_x  n floats in device memory;  n >= 1
//   Pageable memory (malloc, new, std::vector) can be moved by the operating system at any time, so
//   the driver first copies it, on the CPU, into a pinned buffer of its own.
//   TODOs      3
#include "01_pinned_copies.h"

float* allocate_for_copies(size_t n) {
  //~ // TODO(1): The copy engine can read this memory without help; nullptr if there is none. What
  //~ // is allocated here is freed below.
  //~ return static_cast<float*>(std::malloc(n * sizeof(float)));
  //~begin 1
  float* h_x = nullptr;
  if (cudaMallocHost(&h_x, n * sizeof(float)) != cudaSuccess) return nullptr;
  return h_x;
  //~end
}

void free_for_copies(float* h_x) {
  //~ std::free(h_x);
  //~begin 1
  cudaFreeHost(h_x);
  //~end
}

cudaError_t start_upload(float* d_x, const float* h_x, int n, cudaStream_t stream) {
  //~ // TODO(2): When this returns, the copy is in `stream` and may not have begun.
  //~ return cudaMemcpy(d_x, h_x, n * sizeof(float), cudaMemcpyHostToDevice);
  //~begin 2
  return cudaMemcpyAsync(d_x, h_x, n * sizeof(float), cudaMemcpyHostToDevice, stream);
  //~end
}

cudaError_t upload_existing(float* d_x, float* h_x, int n, cudaStream_t stream) {
  //~ // TODO(3): The copy is as fast as from memory of your own, and it is done when this returns.
  //~ // The caller's memory is then as it was, on every way out. The first error is returned.
  //~ return cudaMemcpyAsync(d_x, h_x, n * sizeof(float), cudaMemcpyHostToDevice, stream);
  //~begin 3
  cudaError_t error = cudaHostRegister(h_x, n * sizeof(float), cudaHostRegisterDefault);
  if (error != cudaSuccess) return error;  // nothing was pinned, so there is nothing to undo
  error = cudaMemcpyAsync(d_x, h_x, n * sizeof(float), cudaMemcpyHostToDevice, stream);
  // The engine still reads these pages: they must stay where they are until the copy has ended.
  if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
  const cudaError_t unpinned = cudaHostUnregister(h_x);
  return error != cudaSuccess ? error : unpinned;
  //~end
}
