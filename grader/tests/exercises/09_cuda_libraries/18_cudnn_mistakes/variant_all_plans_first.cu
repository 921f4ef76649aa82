// A status after every step, the size of the result by counting the places of the filter, and all
// plans made before one is chosen.
#include <algorithm>
#include <memory>

#include "18_cudnn_mistakes.h"

using Node = cudnnBackendDescriptor_t;

enum : int64_t { kX = 'x', kFilters = 'f', kY = 'y' };

// The graph: one convolution, from x and the filters to y.
static Node describe(CudnnGraph& graph, const StridedLayer& layer) {
  int rows = 0, cols = 0;
  for (int top = -layer.pad_h; top + layer.r <= layer.h + layer.pad_h; top += layer.stride) ++rows;
  for (int left = -layer.pad_w; left + layer.s <= layer.w + layer.pad_w; left += layer.stride) {
    ++cols;
  }
  const Node x = channels_last(graph, kX, layer.n, layer.c, layer.h, layer.w);
  const Node filters = channels_last(graph, kFilters, layer.k, layer.c, layer.r, layer.s);
  const Node y = channels_last(graph, kY, layer.n, layer.k, rows, cols);
  const Node how = movement(graph, layer.pad_h, layer.pad_w, layer.stride);
  const Node node = graph.make(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
  graph.set(node, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, {how});
  graph.set(node, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, {x});
  graph.set(node, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, {filters});
  graph.set(node, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, {y});
  graph.set(node, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, 1.0f);
  graph.set(node, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, 0.0f);
  graph.finish(node);
  const Node all = graph.make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.set_handle(all, CUDNN_ATTR_OPERATIONGRAPH_HANDLE);
  graph.set(all, CUDNN_ATTR_OPERATIONGRAPH_OPS, {node});
  return graph.finish(all);
}

// A plan of one configuration, if its engine takes the graph.
struct Plan {
  Plan(cudnnHandle_t handle, Node engine)
      : made(handle), node(made.make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR)) {
    made.set_handle(node, CUDNN_ATTR_EXECUTION_PLAN_HANDLE);
    made.set(node, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, {engine});
    made.finish(node);
  }
  bool works() const { return made.ok(); }
  cudnnStatus_t ask_workspace(int64_t* bytes) const {
    int64_t count = 0;
    return cudnnBackendGetAttribute(node, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                    CUDNN_TYPE_INT64, 1, &count, bytes);
  }
  CudnnGraph made;
  Node node;
};

static cudnnStatus_t execute(cudnnHandle_t handle, Node plan, const __half* d_x, const __half* d_f,
                             void* d_workspace, __half* d_y) {
  CudnnGraph pack(handle);
  const Node arrays = pack.make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  pack.set(arrays, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, {kX, kFilters, kY});
  pack.set_pointers(arrays, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
                    {const_cast<__half*>(d_x), const_cast<__half*>(d_f), static_cast<void*>(d_y)});
  pack.set_pointers(arrays, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, {d_workspace});
  pack.finish(arrays);
  if (!pack.ok()) return pack.status();
  return cudnnBackendExecute(handle, plan, arrays);
}

cudnnStatus_t run_layer(cudnnHandle_t handle, const StridedLayer& layer, const __half* d_x,
                        const __half* d_f, void* d_workspace, size_t bytes, __half* d_y,
                        UsedPlan* used) {
  CudnnGraph graph(handle);
  const Node heuristic = graph.make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  graph.set(heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, {describe(graph, layer)});
  graph.set(heuristic, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_HEUR_MODE_A);
  graph.finish(heuristic);
  const std::vector<Node> engines = graph.configurations(heuristic);
  if (!graph.ok()) return graph.status();
  std::vector<std::unique_ptr<Plan>> plans;
  for (const Node engine : engines) plans.push_back(std::make_unique<Plan>(handle, engine));
  cudnnStatus_t asked = CUDNN_STATUS_SUCCESS;
  const auto chosen = std::find_if(plans.begin(), plans.end(), [&](const auto& plan) {
    if (!plan->works() || asked != CUDNN_STATUS_SUCCESS) return false;
    asked = plan->ask_workspace(&used->workspace);
    return asked == CUDNN_STATUS_SUCCESS && used->workspace <= static_cast<int64_t>(bytes);
  });
  if (asked != CUDNN_STATUS_SUCCESS) return asked;
  if (chosen == plans.end()) return CUDNN_STATUS_NOT_SUPPORTED;
  used->number = static_cast<int>(chosen - plans.begin());
  return execute(handle, (*chosen)->node, d_x, d_f, d_workspace, d_y);
}
