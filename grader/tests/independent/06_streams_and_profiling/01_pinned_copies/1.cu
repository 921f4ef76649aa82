// Waits also after a failed copy; clears the remembered error
#include "01_pinned_copies.h"
float* allocate_for_copies(size_t n) {
  float* p = nullptr;
  if (cudaMallocHost(&p, n * sizeof(float)) != cudaSuccess) { cudaGetLastError(); return nullptr; }
  return p;
}
void free_for_copies(float* h_x) { cudaFreeHost(h_x); }
cudaError_t start_upload(float* d_x, const float* h_x, int n, cudaStream_t stream) {
  return cudaMemcpyAsync(d_x, h_x, n * sizeof(float), cudaMemcpyHostToDevice, stream);
}
cudaError_t upload_existing(float* d_x, float* h_x, int n, cudaStream_t stream) {
  const size_t bytes = n * sizeof(float);
  cudaError_t e = cudaHostRegister(h_x, bytes, cudaHostRegisterDefault);
  if (e != cudaSuccess) { cudaGetLastError(); return e; }
  e = cudaMemcpyAsync(d_x, h_x, bytes, cudaMemcpyHostToDevice, stream);
  const cudaError_t w = cudaStreamSynchronize(stream);
  const cudaError_t u = cudaHostUnregister(h_x);
  return e != cudaSuccess ? e : w != cudaSuccess ? w : u;
}
