// 06/01 Pinned copies: host memory that the copy engine reads by itself, without the CPU.
//   h_x        n floats in host memory;  d_x  n floats in device memory;  n >= 1
//   Pageable memory (malloc, new, std::vector) can be moved by the operating system at any time, so
//   the driver first copies it, on the CPU, into a pinned buffer of its own.
//   TODOs      3
#include "01_pinned_copies.h"

float* allocate_for_copies(size_t n) {
  float* h_x = nullptr;
  // TODO(1): Allocate pinned memory; nullptr if there is none. And free it below (2 lines).
  h_x = static_cast<float*>(std::malloc(n * sizeof(float)));
  return h_x;
}

void free_for_copies(float* h_x) {
  std::free(h_x);
}

cudaError_t start_upload(float* d_x, const float* h_x, int n, cudaStream_t stream) {
  // TODO(2): Put the copy into `stream` and return without waiting for it (1 line).
  return cudaMemcpy(d_x, h_x, n * sizeof(float), cudaMemcpyHostToDevice);
}

cudaError_t upload_existing(float* d_x, float* h_x, int n, cudaStream_t stream) {
  // TODO(3): Pin the caller's memory, upload it, wait for the stream, unpin it, and return the
  // first error (about 6 lines).
  return cudaMemcpyAsync(d_x, h_x, n * sizeof(float), cudaMemcpyHostToDevice, stream);
}
