// cudaHostAlloc (portable), an owner object that unpins, waits by an event instead of the stream
#include "01_pinned_copies.h"

float* allocate_for_copies(size_t n) {
  void* memory = nullptr;
  if (cudaHostAlloc(&memory, n * sizeof(float), cudaHostAllocPortable) != cudaSuccess) {
    (void)cudaGetLastError();
    memory = nullptr;
  }
  return static_cast<float*>(memory);
}

void free_for_copies(float* h_x) {
  if (h_x != nullptr) cudaFreeHost(h_x);
}

cudaError_t start_upload(float* d_x, const float* h_x, int n, cudaStream_t stream) {
  return cudaMemcpyAsync(d_x, h_x, sizeof(float) * static_cast<size_t>(n), cudaMemcpyDefault, stream);
}

namespace {
class Pinned {
 public:
  Pinned(void* p, size_t bytes) : p_(p), error_(cudaHostRegister(p, bytes, cudaHostRegisterPortable)) {}
  Pinned(const Pinned&) = delete;
  ~Pinned() {
    if (error_ == cudaSuccess && p_ != nullptr) cudaHostUnregister(p_);
  }
  cudaError_t error() const { return error_; }
  cudaError_t release() {
    void* const p = p_;
    p_ = nullptr;
    return cudaHostUnregister(p);
  }

 private:
  void* p_;
  cudaError_t error_;
};
}  // namespace

cudaError_t upload_existing(float* d_x, float* h_x, int n, cudaStream_t stream) {
  Pinned pinned(h_x, sizeof(float) * static_cast<size_t>(n));
  if (pinned.error() != cudaSuccess) return pinned.error();
  cudaError_t error = start_upload(d_x, h_x, n, stream);
  const cudaError_t waited = cudaStreamSynchronize(stream);
  if (error == cudaSuccess) error = waited;
  const cudaError_t released = pinned.release();
  return error == cudaSuccess ? released : error;
}
