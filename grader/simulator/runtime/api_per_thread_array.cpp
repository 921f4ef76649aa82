// The `_ptsz` and `_ptds` names (see api_per_thread.cpp) of the copies with arrays and three
// dimensions.
#include <cuda_runtime_api.h>

#include "runtime/per_thread.h"

// Programs may still call what CUDA has deprecated.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

using warplings::sim::own;
using warplings::sim::then_wait;

namespace {

// Copies between arrays have no asynchronous form: they come after the work of the thread's stream.
cudaError_t wait_first() { return cudaStreamSynchronize(cudaStreamPerThread); }

}  // namespace

extern "C" {

cudaError_t cudaMemcpy2DToArrayAsync_ptsz(cudaArray_t dst, size_t x, size_t y, const void* src,
                                          size_t pitch, size_t width, size_t height,
                                          cudaMemcpyKind kind, cudaStream_t stream) {
  return cudaMemcpy2DToArrayAsync(dst, x, y, src, pitch, width, height, kind, own(stream));
}

cudaError_t cudaMemcpy2DFromArrayAsync_ptsz(void* dst, size_t pitch, cudaArray_const_t src,
                                            size_t x, size_t y, size_t width, size_t height,
                                            cudaMemcpyKind kind, cudaStream_t stream) {
  return cudaMemcpy2DFromArrayAsync(dst, pitch, src, x, y, width, height, kind, own(stream));
}

cudaError_t cudaMemcpyToArrayAsync_ptsz(cudaArray_t dst, size_t x, size_t y, const void* src,
                                        size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  return cudaMemcpyToArrayAsync(dst, x, y, src, count, kind, own(stream));
}

cudaError_t cudaMemcpyFromArrayAsync_ptsz(void* dst, cudaArray_const_t src, size_t x, size_t y,
                                          size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  return cudaMemcpyFromArrayAsync(dst, src, x, y, count, kind, own(stream));
}

cudaError_t cudaMemcpy3DPeerAsync_ptsz(const cudaMemcpy3DPeerParms* p, cudaStream_t stream) {
  return cudaMemcpy3DPeerAsync(p, own(stream));
}

cudaError_t cudaMemcpy2DToArray_ptds(cudaArray_t dst, size_t x, size_t y, const void* src,
                                     size_t pitch, size_t width, size_t height,
                                     cudaMemcpyKind kind) {
  return then_wait(
      cudaMemcpy2DToArrayAsync(dst, x, y, src, pitch, width, height, kind, cudaStreamPerThread));
}

cudaError_t cudaMemcpy2DFromArray_ptds(void* dst, size_t pitch, cudaArray_const_t src, size_t x,
                                       size_t y, size_t width, size_t height, cudaMemcpyKind kind) {
  return then_wait(
      cudaMemcpy2DFromArrayAsync(dst, pitch, src, x, y, width, height, kind, cudaStreamPerThread));
}

cudaError_t cudaMemcpyToArray_ptds(cudaArray_t dst, size_t x, size_t y, const void* src,
                                   size_t count, cudaMemcpyKind kind) {
  return then_wait(cudaMemcpyToArrayAsync(dst, x, y, src, count, kind, cudaStreamPerThread));
}

cudaError_t cudaMemcpyFromArray_ptds(void* dst, cudaArray_const_t src, size_t x, size_t y,
                                     size_t count, cudaMemcpyKind kind) {
  return then_wait(cudaMemcpyFromArrayAsync(dst, src, x, y, count, kind, cudaStreamPerThread));
}

cudaError_t cudaMemcpy2DArrayToArray_ptds(cudaArray_t dst, size_t to_x, size_t to_y,
                                          cudaArray_const_t src, size_t from_x, size_t from_y,
                                          size_t width, size_t height, cudaMemcpyKind kind) {
  const cudaError_t error = wait_first();
  if (error != cudaSuccess) return error;
  return cudaMemcpy2DArrayToArray(dst, to_x, to_y, src, from_x, from_y, width, height, kind);
}

cudaError_t cudaMemcpyArrayToArray_ptds(cudaArray_t dst, size_t to_x, size_t to_y,
                                        cudaArray_const_t src, size_t from_x, size_t from_y,
                                        size_t count, cudaMemcpyKind kind) {
  const cudaError_t error = wait_first();
  if (error != cudaSuccess) return error;
  return cudaMemcpyArrayToArray(dst, to_x, to_y, src, from_x, from_y, count, kind);
}

cudaError_t cudaMemcpy3DPeer_ptds(const cudaMemcpy3DPeerParms* p) {
  const cudaError_t error = wait_first();
  return error == cudaSuccess ? cudaMemcpy3DPeer(p) : error;
}

}  // extern "C"

#pragma GCC diagnostic pop
