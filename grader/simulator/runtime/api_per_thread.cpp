// The `_ptsz` and `_ptds` names that `nvcc -default-stream per-thread` makes of the runtime's
// functions: there the null stream means a stream of the calling thread.
#include <cuda_runtime_api.h>

#include "runtime/per_thread.h"

// Called by nvcc's generated code; declared by no header for host compilers.
extern "C" cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, size_t, cudaStream_t);

using warplings::sim::own;
using warplings::sim::then_wait;

extern "C" {

cudaError_t cudaMemcpyAsync_ptsz(void* dst, const void* src, size_t count, cudaMemcpyKind kind,
                                 cudaStream_t stream) {
  return cudaMemcpyAsync(dst, src, count, kind, own(stream));
}

cudaError_t cudaMemcpy2DAsync_ptsz(void* dst, size_t dpitch, const void* src, size_t spitch,
                                   size_t width, size_t height, cudaMemcpyKind kind,
                                   cudaStream_t stream) {
  return cudaMemcpy2DAsync(dst, dpitch, src, spitch, width, height, kind, own(stream));
}

cudaError_t cudaMemcpy3DAsync_ptsz(const cudaMemcpy3DParms* p, cudaStream_t stream) {
  return cudaMemcpy3DAsync(p, own(stream));
}

cudaError_t cudaMemcpyToSymbolAsync_ptsz(const void* symbol, const void* src, size_t count,
                                         size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  return cudaMemcpyToSymbolAsync(symbol, src, count, offset, kind, own(stream));
}

cudaError_t cudaMemcpyFromSymbolAsync_ptsz(void* dst, const void* symbol, size_t count,
                                           size_t offset, cudaMemcpyKind kind,
                                           cudaStream_t stream) {
  return cudaMemcpyFromSymbolAsync(dst, symbol, count, offset, kind, own(stream));
}

cudaError_t cudaMemsetAsync_ptsz(void* pointer, int value, size_t count, cudaStream_t stream) {
  return cudaMemsetAsync(pointer, value, count, own(stream));
}

cudaError_t cudaMemset2DAsync_ptsz(void* pointer, size_t pitch, int value, size_t width,
                                   size_t height, cudaStream_t stream) {
  return cudaMemset2DAsync(pointer, pitch, value, width, height, own(stream));
}

cudaError_t cudaMemset3DAsync_ptsz(cudaPitchedPtr pointer, int value, cudaExtent extent,
                                   cudaStream_t stream) {
  return cudaMemset3DAsync(pointer, value, extent, own(stream));
}

cudaError_t cudaMallocAsync_ptsz(void** pointer, size_t size, cudaStream_t stream) {
  return cudaMallocAsync(pointer, size, own(stream));
}

cudaError_t cudaFreeAsync_ptsz(void* pointer, cudaStream_t stream) {
  return cudaFreeAsync(pointer, own(stream));
}

cudaError_t cudaMemPrefetchAsync_ptsz(const void* pointer, size_t size, cudaMemLocation location,
                                      unsigned flags, cudaStream_t stream) {
  return cudaMemPrefetchAsync(pointer, size, location, flags, own(stream));
}

cudaError_t cudaMemPrefetchBatchAsync_ptsz(void** pointers, size_t* sizes, size_t count,
                                           cudaMemLocation* locations, size_t* firsts,
                                           size_t groups, unsigned long long flags,
                                           cudaStream_t stream) {
  return cudaMemPrefetchBatchAsync(pointers, sizes, count, locations, firsts, groups, flags,
                                   own(stream));
}

cudaError_t cudaMemDiscardBatchAsync_ptsz(void** pointers, size_t* sizes, size_t count,
                                          unsigned long long flags, cudaStream_t stream) {
  return cudaMemDiscardBatchAsync(pointers, sizes, count, flags, own(stream));
}

cudaError_t cudaMemDiscardAndPrefetchBatchAsync_ptsz(void** pointers, size_t* sizes, size_t count,
                                                     cudaMemLocation* locations, size_t* firsts,
                                                     size_t groups, unsigned long long flags,
                                                     cudaStream_t stream) {
  return cudaMemDiscardAndPrefetchBatchAsync(pointers, sizes, count, locations, firsts, groups,
                                             flags, own(stream));
}

cudaError_t cudaMemcpyBatchAsync_ptsz(void* const* to, const void* const* from, const size_t* sizes,
                                      size_t count, cudaMemcpyAttributes* attributes,
                                      size_t* firsts, size_t groups, cudaStream_t stream) {
  return cudaMemcpyBatchAsync(to, from, sizes, count, attributes, firsts, groups, own(stream));
}

cudaError_t cudaLaunchKernel_ptsz(const void* function, dim3 grid, dim3 block, void** arguments,
                                  size_t shared, cudaStream_t stream) {
  return cudaLaunchKernel(function, grid, block, arguments, shared, own(stream));
}

cudaError_t cudaLaunchCooperativeKernel_ptsz(const void* function, dim3 grid, dim3 block,
                                             void** arguments, size_t shared, cudaStream_t stream) {
  return cudaLaunchCooperativeKernel(function, grid, block, arguments, shared, own(stream));
}

cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                                    size_t shared, cudaStream_t stream) {
  return __cudaLaunchKernel(kernel, grid, block, arguments, shared, own(stream));
}

cudaError_t cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecord(event, own(stream));
}

cudaError_t cudaEventRecordWithFlags_ptsz(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  return cudaEventRecordWithFlags(event, own(stream), flags);
}

cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t* config, const void* function,
                                     void** arguments) {
  if (config == nullptr) return cudaLaunchKernelExC(config, function, arguments);
  cudaLaunchConfig_t changed = *config;
  changed.stream = own(config->stream);
  return cudaLaunchKernelExC(&changed, function, arguments);
}

cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t stream) {
  return cudaStreamSynchronize(own(stream));
}

cudaError_t cudaStreamQuery_ptsz(cudaStream_t stream) { return cudaStreamQuery(own(stream)); }

cudaError_t cudaStreamWaitEvent_ptsz(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return cudaStreamWaitEvent(own(stream), event, flags);
}

cudaError_t cudaStreamGetFlags_ptsz(cudaStream_t stream, unsigned* flags) {
  return cudaStreamGetFlags(own(stream), flags);
}

cudaError_t cudaStreamGetPriority_ptsz(cudaStream_t stream, int* priority) {
  return cudaStreamGetPriority(own(stream), priority);
}

cudaError_t cudaStreamGetId_ptsz(cudaStream_t stream, unsigned long long* id) {
  return cudaStreamGetId(own(stream), id);
}

cudaError_t cudaStreamGetDevice_ptsz(cudaStream_t stream, int* device) {
  return cudaStreamGetDevice(own(stream), device);
}

cudaError_t cudaStreamIsCapturing_ptsz(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return cudaStreamIsCapturing(own(stream), status);
}

cudaError_t cudaLaunchHostFunc_ptsz(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return cudaLaunchHostFunc(own(stream), function, data);
}

cudaError_t cudaStreamAddCallback_ptsz(cudaStream_t stream, cudaStreamCallback_t callback,
                                       void* data, unsigned flags) {
  return cudaStreamAddCallback(own(stream), callback, data, flags);
}

cudaError_t cudaStreamAttachMemAsync_ptsz(cudaStream_t stream, void* pointer, size_t size,
                                          unsigned flags) {
  return cudaStreamAttachMemAsync(own(stream), pointer, size, flags);
}

cudaError_t cudaMemcpy_ptds(void* dst, const void* src, size_t count, cudaMemcpyKind kind) {
  return then_wait(cudaMemcpyAsync(dst, src, count, kind, cudaStreamPerThread));
}

cudaError_t cudaMemcpy2D_ptds(void* dst, size_t dpitch, const void* src, size_t spitch,
                              size_t width, size_t height, cudaMemcpyKind kind) {
  return then_wait(
      cudaMemcpy2DAsync(dst, dpitch, src, spitch, width, height, kind, cudaStreamPerThread));
}

cudaError_t cudaMemcpy3D_ptds(const cudaMemcpy3DParms* p) {
  return then_wait(cudaMemcpy3DAsync(p, cudaStreamPerThread));
}

cudaError_t cudaMemcpyToSymbol_ptds(const void* symbol, const void* src, size_t count,
                                    size_t offset, cudaMemcpyKind kind) {
  return then_wait(cudaMemcpyToSymbolAsync(symbol, src, count, offset, kind, cudaStreamPerThread));
}

cudaError_t cudaMemcpyFromSymbol_ptds(void* dst, const void* symbol, size_t count, size_t offset,
                                      cudaMemcpyKind kind) {
  return then_wait(
      cudaMemcpyFromSymbolAsync(dst, symbol, count, offset, kind, cudaStreamPerThread));
}

cudaError_t cudaMemset_ptds(void* pointer, int value, size_t count) {
  return cudaMemsetAsync(pointer, value, count, cudaStreamPerThread);
}

cudaError_t cudaMemset2D_ptds(void* pointer, size_t pitch, int value, size_t width, size_t height) {
  return cudaMemset2DAsync(pointer, pitch, value, width, height, cudaStreamPerThread);
}

cudaError_t cudaMemset3D_ptds(cudaPitchedPtr pointer, int value, cudaExtent extent) {
  return cudaMemset3DAsync(pointer, value, extent, cudaStreamPerThread);
}

}  // extern "C"
