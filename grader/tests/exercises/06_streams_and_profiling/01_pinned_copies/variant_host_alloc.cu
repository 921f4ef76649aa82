// Accepted: cudaHostAlloc, the direction left to the runtime, and the window unpinned by an owner.
#include "01_pinned_copies.h"

namespace {

class PinnedWindow {
 public:
  PinnedWindow(void* memory, size_t bytes)
      : memory_(memory), error_(cudaHostRegister(memory, bytes, cudaHostRegisterPortable)) {}
  ~PinnedWindow() {
    if (error_ == cudaSuccess) cudaHostUnregister(memory_);
  }
  cudaError_t error() const { return error_; }

 private:
  void* memory_;
  cudaError_t error_;
};

}  // namespace

float* allocate_for_copies(size_t n) {
  void* memory = nullptr;
  cudaHostAlloc(&memory, n * sizeof(float), cudaHostAllocPortable);
  return static_cast<float*>(memory);
}

void free_for_copies(float* h_x) { cudaFreeHost(h_x); }

cudaError_t start_upload(float* d_x, const float* h_x, int n, cudaStream_t stream) {
  return cudaMemcpyAsync(d_x, h_x, n * sizeof(float), cudaMemcpyDefault, stream);
}

cudaError_t upload_existing(float* d_x, float* h_x, int n, cudaStream_t stream) {
  const PinnedWindow window(h_x, n * sizeof(float));
  if (window.error() != cudaSuccess) return window.error();
  const cudaError_t started =
      cudaMemcpyAsync(d_x, h_x, n * sizeof(float), cudaMemcpyHostToDevice, stream);
  const cudaError_t ended = cudaStreamSynchronize(stream);
  return started != cudaSuccess ? started : ended;
}
