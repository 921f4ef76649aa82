// The `_ptsz` names of capture, graphs, pools and stream attributes; see api_per_thread.cpp.
#include <cuda_runtime_api.h>

#include "runtime/per_thread.h"

using warplings::sim::own;

namespace {

unsigned long long per_thread(unsigned long long flags) {
  if (flags == cudaEnableDefault) return cudaEnablePerThreadDefaultStream;
  return flags;
}

}  // namespace

extern "C" {

cudaError_t cudaGraphLaunch_ptsz(cudaGraphExec_t exec, cudaStream_t stream) {
  return cudaGraphLaunch(exec, own(stream));
}

cudaError_t cudaGraphUpload_ptsz(cudaGraphExec_t exec, cudaStream_t stream) {
  return cudaGraphUpload(exec, own(stream));
}

cudaError_t cudaGraphInstantiateWithParams_ptsz(cudaGraphExec_t* exec, cudaGraph_t graph,
                                                cudaGraphInstantiateParams* params) {
  return cudaGraphInstantiateWithParams(exec, graph, params);
}

cudaError_t cudaStreamBeginCapture_ptsz(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return cudaStreamBeginCapture(own(stream), mode);
}

cudaError_t cudaStreamBeginCaptureToGraph_ptsz(cudaStream_t stream, cudaGraph_t graph,
                                               const cudaGraphNode_t* dependencies,
                                               const cudaGraphEdgeData* data, size_t count,
                                               cudaStreamCaptureMode mode) {
  return cudaStreamBeginCaptureToGraph(own(stream), graph, dependencies, data, count, mode);
}

cudaError_t cudaStreamEndCapture_ptsz(cudaStream_t stream, cudaGraph_t* graph) {
  return cudaStreamEndCapture(own(stream), graph);
}

cudaError_t cudaStreamGetCaptureInfo_ptsz(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                          unsigned long long* id, cudaGraph_t* graph,
                                          const cudaGraphNode_t** dependencies,
                                          const cudaGraphEdgeData** data, size_t* count) {
  return cudaStreamGetCaptureInfo(own(stream), status, id, graph, dependencies, data, count);
}

cudaError_t cudaStreamUpdateCaptureDependencies_ptsz(cudaStream_t stream,
                                                     cudaGraphNode_t* dependencies,
                                                     const cudaGraphEdgeData* data, size_t count,
                                                     unsigned flags) {
  return cudaStreamUpdateCaptureDependencies(own(stream), dependencies, data, count, flags);
}

cudaError_t cudaMallocFromPoolAsync_ptsz(void** pointer, size_t size, cudaMemPool_t pool,
                                         cudaStream_t stream) {
  return cudaMallocFromPoolAsync(pointer, size, pool, own(stream));
}

cudaError_t cudaStreamSetAttribute_ptsz(cudaStream_t stream, cudaLaunchAttributeID id,
                                        const cudaLaunchAttributeValue* value) {
  return cudaStreamSetAttribute(own(stream), id, value);
}

cudaError_t cudaStreamGetAttribute_ptsz(cudaStream_t stream, cudaLaunchAttributeID id,
                                        cudaLaunchAttributeValue* value) {
  return cudaStreamGetAttribute(own(stream), id, value);
}

cudaError_t cudaStreamCopyAttributes_ptsz(cudaStream_t to, cudaStream_t from) {
  return cudaStreamCopyAttributes(own(to), own(from));
}

cudaError_t cudaGetDriverEntryPoint_ptsz(const char* name, void** function,
                                         unsigned long long flags,
                                         cudaDriverEntryPointQueryResult* status) {
  return cudaGetDriverEntryPointByVersion(name, function, CUDART_VERSION, per_thread(flags),
                                          status);
}

cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char* name, void** function,
                                                  unsigned version, unsigned long long flags,
                                                  cudaDriverEntryPointQueryResult* status) {
  return cudaGetDriverEntryPointByVersion(name, function, version, per_thread(flags), status);
}

}  // extern "C"
