// Instances of graphs in the CUDA runtime API.
#include <cuda_runtime_api.h>

#include <utility>

#include "profile/timeline.h"
#include "runtime/api.h"
#include "runtime/capture.h"
#include "runtime/graph.h"
#include "runtime/graph_arguments.h"

using namespace warplings::sim;

namespace {

bool is_exec(cudaGraphExec_t exec) { return Graphs::instance().is_exec(exec); }

constexpr unsigned long long kInstantiateFlags = cudaGraphInstantiateFlagAutoFreeOnLaunch |
                                                 cudaGraphInstantiateFlagUpload |
                                                 cudaGraphInstantiateFlagUseNodePriority;

cudaError_t instantiate(const ApiCall& call, cudaGraphExec_t* exec, cudaGraph_t graph,
                        unsigned long long flags) {
  if (exec == nullptr || !Graphs::instance().is_graph(graph)) return cudaErrorInvalidValue;
  if ((flags & cudaGraphInstantiateFlagDeviceLaunch) != 0) {
    call.report("api", "not-simulated",
                call.description() +
                    " asks for a graph that kernels launch, which the simulator does not have. It "
                    "returned cudaErrorNotSupported. Run this program on a GPU.");
    return cudaErrorNotSupported;
  }
  if ((flags & ~kInstantiateFlags) != 0) return cudaErrorInvalidValue;
  const cudaError_t error = Graphs::instance().instantiate(graph, flags, exec);
  if (error == cudaSuccess) Timeline::instance().graph_instantiated((*exec)->nodes.size());
  return error;
}

// Replaces the work of a node of an instance by work of the same kind.
template <class Make>
cudaError_t set_exec_node(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraphNodeType type,
                          Make make) {
  if (!is_exec(exec) || !Graphs::instance().is_node(node)) return cudaErrorInvalidValue;
  ExecNode* found = find_exec_node(exec, node);
  if (found == nullptr || type_of(found->work) != type) return cudaErrorInvalidValue;
  NodeWork work;
  const cudaError_t error = make(&work);
  if (error == cudaSuccess) found->work = std::move(work);
  return error;
}

template <class Params>
cudaError_t set_exec_params(const ApiCall& call, cudaGraphExec_t exec, cudaGraphNode_t node,
                            cudaGraphNodeType type, const Params* params) {
  if (params == nullptr) return cudaErrorInvalidValue;
  return set_exec_node(exec, node, type,
                       [&](NodeWork* work) { return work_of(call, *params, work); });
}

template <class Work>
cudaError_t set_exec_event(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraphNodeType type,
                           cudaEvent_t event) {
  return set_exec_node(exec, node, type, [event](NodeWork* work) {
    *work = Work{event};
    return Streams::instance().find(event) == nullptr ? cudaErrorInvalidResourceHandle
                                                      : cudaSuccess;
  });
}

// Only nodes that do something by themselves can be switched off.
ExecNode* find_switch(cudaGraphExec_t exec, cudaGraphNode_t node) {
  if (!is_exec(exec) || !Graphs::instance().is_node(node)) return nullptr;
  ExecNode* found = find_exec_node(exec, node);
  if (found == nullptr) return nullptr;
  const cudaGraphNodeType type = type_of(found->work);
  return type == cudaGraphNodeTypeKernel || type == cudaGraphNodeTypeMemcpy ||
                 type == cudaGraphNodeTypeMemset
             ? found
             : nullptr;
}

}  // namespace

extern "C" {

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                 unsigned long long flags) {
  return WARPLINGS_API { return instantiate(call, exec, graph, flags); };
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                          unsigned long long flags) {
  return WARPLINGS_API { return instantiate(call, exec, graph, flags); };
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* exec, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* params) {
  return WARPLINGS_API {
    if (params == nullptr) return cudaErrorInvalidValue;
    params->errNode_out = nullptr;
    const cudaError_t error = instantiate(call, exec, graph, params->flags);
    params->result_out =
        error == cudaSuccess ? cudaGraphInstantiateSuccess : cudaGraphInstantiateError;
    return error;
  };
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long* flags) {
  return WARPLINGS_API {
    if (!is_exec(exec) || flags == nullptr) return cudaErrorInvalidValue;
    *flags = exec->flags;
    return cudaSuccess;
  };
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return WARPLINGS_API {
    if (!is_exec(exec)) return cudaErrorInvalidValue;
    Graphs::instance().destroy(exec);
    return cudaSuccess;
  };
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t handle) {
  return WARPLINGS_API {
    std::shared_ptr<StreamState> stream;
    if (const cudaError_t error = find_target(handle, &stream); error != cudaSuccess) return error;
    if (!is_exec(exec)) return cudaErrorInvalidValue;
    if (stream->capture == nullptr) return launch_graph(call, exec, stream);
    // Inside of a capture the launch becomes a child graph.
    if (exec->source == nullptr) return cudaErrorInvalidValue;
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeGraph;
    params.graph.graph = exec->source;
    NodeWork work;
    const cudaError_t error = work_of(call, &params, &work);
    if (error == cudaSuccess) capture_node(*stream, std::move(work));
    return error;
  };
}

// Nothing has to be moved to a device before the first launch.
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t handle) {
  return WARPLINGS_API {
    std::shared_ptr<StreamState> stream;
    if (const cudaError_t error = find_target(handle, &stream); error != cudaSuccess) return error;
    return is_exec(exec) ? cudaSuccess : cudaErrorInvalidValue;
  };
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* result) {
  return WARPLINGS_API {
    cudaGraphExecUpdateResultInfo info{};
    if (!is_exec(exec) || !Graphs::instance().is_graph(graph)) return cudaErrorInvalidValue;
    const cudaError_t error = update_exec(exec, *graph, &info);
    if (result != nullptr) *result = info;
    return error;
  };
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* params) {
  return WARPLINGS_API {
    return set_exec_params(call, exec, node, cudaGraphNodeTypeKernel, params);
  };
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* params) {
  return WARPLINGS_API {
    return set_exec_params(call, exec, node, cudaGraphNodeTypeMemcpy, params);
  };
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void* to,
                                               const void* from, size_t bytes,
                                               cudaMemcpyKind kind) {
  return WARPLINGS_API {
    return set_exec_node(exec, node, cudaGraphNodeTypeMemcpy, [&](NodeWork* work) {
      return copy_work(call, linear_copy(to, from, bytes, kind), work);
    });
  };
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                     const void* symbol, const void* from,
                                                     size_t bytes, size_t offset,
                                                     cudaMemcpyKind kind) {
  return WARPLINGS_API {
    return set_exec_node(exec, node, cudaGraphNodeTypeMemcpy, [&](NodeWork* work) {
      return copy_to_symbol_work(call, symbol, from, bytes, offset, kind, work);
    });
  };
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                       void* to, const void* symbol, size_t bytes,
                                                       size_t offset, cudaMemcpyKind kind) {
  return WARPLINGS_API {
    return set_exec_node(exec, node, cudaGraphNodeTypeMemcpy, [&](NodeWork* work) {
      return copy_from_symbol_work(call, to, symbol, bytes, offset, kind, work);
    });
  };
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemsetParams* params) {
  return WARPLINGS_API {
    return set_exec_params(call, exec, node, cudaGraphNodeTypeMemset, params);
  };
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           const cudaHostNodeParams* params) {
  return WARPLINGS_API { return set_exec_params(call, exec, node, cudaGraphNodeTypeHost, params); };
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 cudaGraph_t graph) {
  return WARPLINGS_API {
    Graphs& graphs = Graphs::instance();
    if (!is_exec(exec) || !graphs.is_node(node) || !graphs.is_graph(graph)) {
      return cudaErrorInvalidValue;
    }
    ExecNode* found = find_exec_node(exec, node);
    if (found == nullptr || type_of(found->work) != cudaGraphNodeTypeGraph) {
      return cudaErrorInvalidValue;
    }
    return update_child(exec, found, *graph);
  };
}

cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 cudaEvent_t event) {
  return WARPLINGS_API {
    return set_exec_event<EventRecordWork>(exec, node, cudaGraphNodeTypeEventRecord, event);
  };
}

cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                               cudaEvent_t event) {
  return WARPLINGS_API {
    return set_exec_event<EventWaitWork>(exec, node, cudaGraphNodeTypeWaitEvent, event);
  };
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                       cudaGraphNodeParams* params) {
  return WARPLINGS_API {
    if (params == nullptr || params->type == cudaGraphNodeTypeMemAlloc ||
        params->type == cudaGraphNodeTypeGraph) {
      return cudaErrorInvalidValue;
    }
    return set_exec_node(exec, node, params->type,
                         [&](NodeWork* work) { return work_of(call, params, work); });
  };
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled) {
  return WARPLINGS_API {
    ExecNode* found = find_switch(exec, node);
    if (found == nullptr) return cudaErrorInvalidValue;
    found->enabled = enabled != 0;
    return cudaSuccess;
  };
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned* enabled) {
  return WARPLINGS_API {
    const ExecNode* found = find_switch(exec, node);
    if (found == nullptr || enabled == nullptr) return cudaErrorInvalidValue;
    *enabled = found->enabled ? 1 : 0;
    return cudaSuccess;
  };
}

}  // extern "C"
