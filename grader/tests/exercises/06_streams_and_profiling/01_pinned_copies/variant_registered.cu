// Accepted: memory of the C library, in whole pages, pinned where it is.
#include <cstdlib>

#include "01_pinned_copies.h"

constexpr size_t kPage = 4096;  // bytes

float* allocate_for_copies(size_t n) {
  const size_t bytes = (n * sizeof(float) + kPage - 1) / kPage * kPage;
  void* const memory = std::aligned_alloc(kPage, bytes);
  if (memory == nullptr) return nullptr;
  if (cudaHostRegister(memory, bytes, cudaHostRegisterDefault) != cudaSuccess) {
    std::free(memory);
    return nullptr;
  }
  return static_cast<float*>(memory);
}

void free_for_copies(float* h_x) {
  if (h_x == nullptr) return;
  cudaHostUnregister(h_x);
  std::free(h_x);
}

cudaError_t start_upload(float* d_x, const float* h_x, int n, cudaStream_t stream) {
  return cudaMemcpyAsync(d_x, h_x, sizeof(float) * n, cudaMemcpyDefault, stream);
}

cudaError_t upload_existing(float* d_x, float* h_x, int n, cudaStream_t stream) {
  const size_t bytes = sizeof(float) * n;
  cudaError_t first = cudaHostRegister(h_x, bytes, cudaHostRegisterPortable);
  if (first != cudaSuccess) return first;
  const auto keep = [&first](cudaError_t error) {
    if (first == cudaSuccess) first = error;
  };
  keep(cudaMemcpyAsync(d_x, h_x, bytes, cudaMemcpyHostToDevice, stream));
  keep(cudaStreamSynchronize(stream));
  keep(cudaHostUnregister(h_x));
  return first;
}
