// Given to 09/11: the way from a graph to a plan, as you have written it in 07.
#ifndef CHAPTERS_09_CUDA_LIBRARIES_11_CUDNN_GRAPH_SUPPORT_H_
#define CHAPTERS_09_CUDA_LIBRARIES_11_CUDNN_GRAPH_SUPPORT_H_

#include <cudnn.h>

#include <cstdint>

#include "08_cudnn_conv_support.h"

// made->plan: of the first configuration of the heuristic of mode A of which a plan can be made,
// for `operations`, a finished graph whose descriptors are those of made->graph; made->workspace:
// what it needs. The first status that is no success, or CUDNN_STATUS_NOT_SUPPORTED.
inline cudnnStatus_t compile(cudnnBackendDescriptor_t operations, CompiledGraph* made) {
  CudnnGraph& graph = made->graph;
  const auto heuristic = graph.make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  graph.set(heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, {operations});
  graph.set(heuristic, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_HEUR_MODE_A);
  graph.finish(heuristic);
  for (const auto engine : graph.configurations(heuristic)) {
    CudnnGraph attempt(graph.handle());
    const auto plan = attempt.make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    attempt.set_handle(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE);
    attempt.set(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, {engine});
    if (!attempt.ok()) return attempt.status();
    attempt.finish(plan);
    if (!attempt.ok()) continue;
    int64_t count = 0;
    const cudnnStatus_t status =
        cudnnBackendGetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64,
                                 1, &count, &made->workspace);
    if (status != CUDNN_STATUS_SUCCESS) return status;
    made->plan = attempt.release(plan);
    return CUDNN_STATUS_SUCCESS;
  }
  return graph.ok() ? CUDNN_STATUS_NOT_SUPPORTED : graph.status();
}

#endif  // CHAPTERS_09_CUDA_LIBRARIES_11_CUDNN_GRAPH_SUPPORT_H_
