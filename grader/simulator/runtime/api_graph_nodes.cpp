// Nodes of graphs in the CUDA runtime API: adding them, and reading and changing what they do.
#include <cuda_runtime_api.h>

#include <cstring>
#include <utility>
#include <vector>

#include "runtime/api.h"
#include "runtime/graph.h"
#include "runtime/graph_arguments.h"
#include "runtime/registry.h"

using namespace warplings::sim;

namespace {

struct Place {
  cudaGraphNode_t* node;
  cudaGraph_t graph;
  const cudaGraphNode_t* dependencies;
  const cudaGraphEdgeData* data;
  size_t count;
};

// `make` fills in the work; it is asked once the rest of the arguments is known to be right.
template <class Make>
cudaError_t add_node(const Place& place, Make make) {
  std::vector<GraphEdge> edges;
  if (place.node == nullptr || !Graphs::instance().is_graph(place.graph) ||
      !read_edges(place.graph, place.dependencies, place.data, place.count, &edges)) {
    return cudaErrorInvalidValue;
  }
  NodeWork work;
  const cudaError_t error = make(&work);
  if (error == cudaSuccess) {
    *place.node = Graphs::instance().add(place.graph, edges, std::move(work));
  }
  return error;
}

template <class Params>
cudaError_t add_with(const ApiCall& call, const Place& place, const Params* params) {
  if (params == nullptr) return cudaErrorInvalidValue;
  return add_node(place, [&](NodeWork* work) { return work_of(call, *params, work); });
}

// The node's work as T; nullptr if it is no node, or one of another kind.
template <class T>
T* work_as(cudaGraphNode_t node) {
  return Graphs::instance().is_node(node) ? std::get_if<T>(&node->work) : nullptr;
}

// *out = read(the node's work)
template <class Work, class Out, class Read>
cudaError_t read_node(cudaGraphNode_t node, Out* out, Read read) {
  const Work* work = work_as<Work>(node);
  if (work == nullptr || out == nullptr) return cudaErrorInvalidValue;
  *out = read(*work);
  return cudaSuccess;
}

template <class Work, class Params>
cudaError_t set_params(const ApiCall& call, cudaGraphNode_t node, const Params* params) {
  if (work_as<Work>(node) == nullptr || params == nullptr) return cudaErrorInvalidValue;
  NodeWork work;
  const cudaError_t error = work_of(call, *params, &work);
  if (error == cudaSuccess) node->work = std::move(work);
  return error;
}

cudaError_t set_event(cudaGraphNode_t node, cudaEvent_t event, cudaGraphNodeType type) {
  if (!Graphs::instance().is_node(node) || type_of(node->work) != type) {
    return cudaErrorInvalidValue;
  }
  if (Streams::instance().find(event) == nullptr) return cudaErrorInvalidResourceHandle;
  if (type == cudaGraphNodeTypeEventRecord) {
    node->work = EventRecordWork{event};
  } else {
    node->work = EventWaitWork{event};
  }
  return cudaSuccess;
}

cudaError_t add_event_node(const ApiCall& call, const Place& place, cudaEvent_t event,
                           cudaGraphNodeType type) {
  cudaGraphNodeParams params{};
  params.type = type;
  if (type == cudaGraphNodeTypeEventRecord) {
    params.eventRecord.event = event;
  } else {
    params.eventWait.event = event;
  }
  return add_node(place, [&](NodeWork* work) { return work_of(call, &params, work); });
}

}  // namespace

extern "C" {

cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph,
                             const cudaGraphNode_t* dependencies, const cudaGraphEdgeData* data,
                             size_t count, cudaGraphNodeParams* params) {
  return WARPLINGS_API {
    if (params == nullptr) return cudaErrorInvalidValue;
    return add_node({node, graph, dependencies, data, count},
                    [&](NodeWork* work) { return work_of(call, params, work); });
  };
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, size_t count,
                                   const cudaKernelNodeParams* params) {
  return WARPLINGS_API {
    return add_with(call, {node, graph, dependencies, nullptr, count}, params);
  };
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, size_t count,
                                   const cudaMemcpy3DParms* params) {
  return WARPLINGS_API {
    return add_with(call, {node, graph, dependencies, nullptr, count}, params);
  };
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, size_t count, void* to,
                                     const void* from, size_t bytes, cudaMemcpyKind kind) {
  return WARPLINGS_API {
    return add_node({node, graph, dependencies, nullptr, count}, [&](NodeWork* work) {
      return copy_work(call, linear_copy(to, from, bytes, kind), work);
    });
  };
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                           const cudaGraphNode_t* dependencies, size_t count,
                                           const void* symbol, const void* from, size_t bytes,
                                           size_t offset, cudaMemcpyKind kind) {
  return WARPLINGS_API {
    return add_node({node, graph, dependencies, nullptr, count}, [&](NodeWork* work) {
      return copy_to_symbol_work(call, symbol, from, bytes, offset, kind, work);
    });
  };
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                             const cudaGraphNode_t* dependencies, size_t count,
                                             void* to, const void* symbol, size_t bytes,
                                             size_t offset, cudaMemcpyKind kind) {
  return WARPLINGS_API {
    return add_node({node, graph, dependencies, nullptr, count}, [&](NodeWork* work) {
      return copy_from_symbol_work(call, to, symbol, bytes, offset, kind, work);
    });
  };
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, size_t count,
                                   const cudaMemsetParams* params) {
  return WARPLINGS_API {
    return add_with(call, {node, graph, dependencies, nullptr, count}, params);
  };
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* dependencies, size_t count,
                                 const cudaHostNodeParams* params) {
  return WARPLINGS_API {
    return add_with(call, {node, graph, dependencies, nullptr, count}, params);
  };
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* dependencies, size_t count,
                                       cudaGraph_t child) {
  return WARPLINGS_API {
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeGraph;
    params.graph.graph = child;
    return add_node({node, graph, dependencies, nullptr, count},
                    [&](NodeWork* work) { return work_of(call, &params, work); });
  };
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* dependencies, size_t count) {
  return WARPLINGS_API {
    return add_node({node, graph, dependencies, nullptr, count},
                    [](NodeWork*) { return cudaSuccess; });
  };
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                        const cudaGraphNode_t* dependencies, size_t count,
                                        cudaEvent_t event) {
  return WARPLINGS_API {
    return add_event_node(call, {node, graph, dependencies, nullptr, count}, event,
                          cudaGraphNodeTypeEventRecord);
  };
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                      const cudaGraphNode_t* dependencies, size_t count,
                                      cudaEvent_t event) {
  return WARPLINGS_API {
    return add_event_node(call, {node, graph, dependencies, nullptr, count}, event,
                          cudaGraphNodeTypeWaitEvent);
  };
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, size_t count,
                                     cudaMemAllocNodeParams* params) {
  return WARPLINGS_API {
    if (params == nullptr) return cudaErrorInvalidValue;
    return add_node({node, graph, dependencies, nullptr, count},
                    [&](NodeWork* work) { return allocation_work(call, params, work); });
  };
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                    const cudaGraphNode_t* dependencies, size_t count,
                                    void* pointer) {
  return WARPLINGS_API {
    return add_node({node, graph, dependencies, nullptr, count}, [&](NodeWork* work) {
      *work = FreeWork{pointer, call};
      return pointer == nullptr ? cudaErrorInvalidValue : cudaSuccess;
    });
  };
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* params) {
  return WARPLINGS_API {
    return read_node<KernelNodeWork>(
        node, params, [=](const KernelNodeWork&) { return kernel_parameters(node); });
  };
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* params) {
  return WARPLINGS_API { return set_params<KernelNodeWork>(call, node, params); };
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* params) {
  return WARPLINGS_API {
    return read_node<CopyWork>(node, params,
                               [](const CopyWork& work) { return copy_parameters(work.copy); });
  };
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* params) {
  return WARPLINGS_API { return set_params<CopyWork>(call, node, params); };
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from,
                                           size_t bytes, cudaMemcpyKind kind) {
  return WARPLINGS_API {
    if (work_as<CopyWork>(node) == nullptr) return cudaErrorInvalidValue;
    return copy_work(call, linear_copy(to, from, bytes, kind), &node->work);
  };
}

cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void* symbol,
                                                 const void* from, size_t bytes, size_t offset,
                                                 cudaMemcpyKind kind) {
  return WARPLINGS_API {
    if (work_as<CopyWork>(node) == nullptr) return cudaErrorInvalidValue;
    return copy_to_symbol_work(call, symbol, from, bytes, offset, kind, &node->work);
  };
}

cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* to,
                                                   const void* symbol, size_t bytes, size_t offset,
                                                   cudaMemcpyKind kind) {
  return WARPLINGS_API {
    if (work_as<CopyWork>(node) == nullptr) return cudaErrorInvalidValue;
    return copy_from_symbol_work(call, to, symbol, bytes, offset, kind, &node->work);
  };
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* params) {
  return WARPLINGS_API {
    return read_node<FillWork>(node, params,
                               [](const FillWork& work) { return fill_parameters(work.fill); });
  };
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* params) {
  return WARPLINGS_API { return set_params<FillWork>(call, node, params); };
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* params) {
  return WARPLINGS_API {
    return read_node<HostWork>(node, params, [](const HostWork& work) {
      return cudaHostNodeParams{work.function, work.data};
    });
  };
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* params) {
  return WARPLINGS_API { return set_params<HostWork>(call, node, params); };
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
  return WARPLINGS_API {
    return read_node<ChildWork>(node, graph,
                                [](const ChildWork& work) { return work.graph.get(); });
  };
}

cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return WARPLINGS_API {
    return read_node<EventRecordWork>(node, event,
                                      [](const EventRecordWork& work) { return work.event; });
  };
}

cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return WARPLINGS_API { return set_event(node, event, cudaGraphNodeTypeEventRecord); };
}

cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return WARPLINGS_API {
    return read_node<EventWaitWork>(node, event,
                                    [](const EventWaitWork& work) { return work.event; });
  };
}

cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return WARPLINGS_API { return set_event(node, event, cudaGraphNodeTypeWaitEvent); };
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams* params) {
  return WARPLINGS_API {
    return read_node<AllocateWork>(node, params,
                                   [](const AllocateWork& work) { return work.params; });
  };
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* pointer) {
  return WARPLINGS_API {
    const auto* work = work_as<FreeWork>(node);
    if (work == nullptr || pointer == nullptr) return cudaErrorInvalidValue;
    std::memcpy(pointer, &work->pointer, sizeof work->pointer);
    return cudaSuccess;
  };
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* params) {
  return WARPLINGS_API {
    if (!Graphs::instance().is_node(node) || params == nullptr ||
        type_of(node->work) != params->type || params->type == cudaGraphNodeTypeMemAlloc) {
      return cudaErrorInvalidValue;
    }
    NodeWork work;
    const cudaError_t error = work_of(call, params, &work);
    if (error == cudaSuccess) node->work = std::move(work);
    return error;
  };
}

cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                            const cudaLaunchAttributeValue* value) {
  return WARPLINGS_API {
    auto* work = work_as<KernelNodeWork>(node);
    if (work == nullptr || value == nullptr) return cudaErrorInvalidValue;
    return set_attribute(work, id, *value);
  };
}

cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                            cudaLaunchAttributeValue* value) {
  return WARPLINGS_API {
    const auto* work = work_as<KernelNodeWork>(node);
    if (work == nullptr || value == nullptr) return cudaErrorInvalidValue;
    const auto known = work->attributes.find(id);
    *value = known == work->attributes.end() ? cudaLaunchAttributeValue{} : known->second;
    return cudaSuccess;
  };
}

cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from) {
  return WARPLINGS_API {
    auto* target = work_as<KernelNodeWork>(to);
    const auto* source = work_as<KernelNodeWork>(from);
    if (target == nullptr || source == nullptr) return cudaErrorInvalidValue;
    target->attributes = source->attributes;
    target->launch.config.cooperative = source->launch.config.cooperative;
    return cudaSuccess;
  };
}

}  // extern "C"
