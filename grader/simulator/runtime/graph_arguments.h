// What the graph calls are given, turned into what nodes hold, and back.
#ifndef WARPLINGS_SIMULATOR_RUNTIME_GRAPH_ARGUMENTS_H_
#define WARPLINGS_SIMULATOR_RUNTIME_GRAPH_ARGUMENTS_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <vector>

#include "runtime/graph.h"

namespace warplings::sim {

// False if a node is not of this graph, or appears twice. `data` may be nullptr.
bool read_edges(cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                const cudaGraphEdgeData* data, size_t count, std::vector<GraphEdge>* edges);

cudaError_t work_of(const ApiCall& call, const cudaKernelNodeParams& params, NodeWork* work);
cudaError_t work_of(const ApiCall& call, const cudaMemcpy3DParms& params, NodeWork* work);
cudaError_t work_of(const ApiCall& call, const cudaMemsetParams& params, NodeWork* work);
cudaError_t work_of(const ApiCall& call, const cudaHostNodeParams& params, NodeWork* work);
// Any kind of node. Of an allocation node `params->alloc.dptr` is set.
cudaError_t work_of(const ApiCall& call, cudaGraphNodeParams* params, NodeWork* work);
cudaError_t allocation_work(const ApiCall& call, cudaMemAllocNodeParams* params, NodeWork* work);
cudaError_t copy_work(const ApiCall& call, const Copy& copy, NodeWork* work);
cudaError_t copy_to_symbol_work(const ApiCall& call, const void* symbol, const void* from,
                                size_t bytes, size_t offset, cudaMemcpyKind kind, NodeWork* work);
cudaError_t copy_from_symbol_work(const ApiCall& call, void* to, const void* symbol, size_t bytes,
                                  size_t offset, cudaMemcpyKind kind, NodeWork* work);
// Attributes of cudaLaunchKernelExC and of kernel nodes: refused where the simulator lacks them.
cudaError_t set_attribute(KernelNodeWork* work, cudaLaunchAttributeID id,
                          const cudaLaunchAttributeValue& value);

cudaMemcpy3DParms copy_parameters(const Copy& copy);
cudaMemsetParams fill_parameters(const Fill& fill);
// The argument pointers point into the node.
cudaKernelNodeParams kernel_parameters(CUgraphNode_st* node);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_GRAPH_ARGUMENTS_H_
