// 06/01 Pinned copies: host memory that the copy engine reads by itself, without the CPU.
//   h_x        n floats in host memory;  d_x  n floats in device memory;  n >= 1
//   Pageable memory (malloc, new, std::vector) can be moved by the operating system at any time, so
//   the driver first copies it, on the CPU, into a pinned buffer of its own.
//   TODOs      3
#include "01_pinned_copies.h"

float* allocate_for_copies(size_t n) {
  // TODO(1): The copy engine can read this memory without help; nullptr if there is none. What
  // is allocated here is freed below.
  return static_cast<float*>(std::malloc(n * sizeof(float)));
}

void free_for_copies(float* h_x) {
  std::free(h_x);
}

cudaError_t start_upload(float* d_x, const float* h_x, int n, cudaStream_t stream) {
  // TODO(2): When this returns, the copy is in `stream` and may not have begun.
  return cudaMemcpy(d_x, h_x, n * sizeof(float), cudaMemcpyHostToDevice);
}

cudaError_t upload_existing(float* d_x, float* h_x, int n, cudaStream_t stream) {
  // TODO(3): The copy is as fast as from memory of your own, and it is done when this returns.
  // The caller's memory is then as it was, on every way out. The first error is returned.
  return cudaMemcpyAsync(d_x, h_x, n * sizeof(float), cudaMemcpyHostToDevice, stream);
}
