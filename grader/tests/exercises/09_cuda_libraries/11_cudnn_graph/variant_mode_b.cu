// The other heuristic, ReLU with its lower clip said, names by count, and
// a plan made by a function of its own.
#include "11_cudnn_graph.h"

using Node = cudnnBackendDescriptor_t;

// The names of the arrays, by which launch_fused_conv says where they lie.
enum : int64_t { kX = 1, kFilters, kBias, kSums, kShifted, kY };

static Node convolution(CudnnGraph& graph, int64_t pad, Node x, Node filters, Node y) {
  const Node how = graph.make(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  graph.set(how, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, {int64_t{2}});
  graph.set(how, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT);  // of the sums
  graph.set(how, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION);
  graph.set(how, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, {pad, pad});
  graph.set(how, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, {pad, pad});
  graph.set(how, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, {int64_t{1}, int64_t{1}});
  graph.set(how, CUDNN_ATTR_CONVOLUTION_DILATIONS, {int64_t{1}, int64_t{1}});
  graph.finish(how);
  const Node node = graph.make(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
  graph.set(node, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, {how});
  graph.set(node, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, {x});
  graph.set(node, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, {filters});
  graph.set(node, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, {y});
  graph.set(node, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, 1.0f);
  graph.set(node, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, 0.0f);
  return graph.finish(node);
}

// y = x + b or y = max(0, x), by the mode; a nullptr stands for no b.
static Node pointwise(CudnnGraph& graph, cudnnPointwiseMode_t mode, Node x, Node b, Node y) {
  const Node how = graph.make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  graph.set(how, CUDNN_ATTR_POINTWISE_MODE, mode);
  graph.set(how, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_DATA_FLOAT);
  if (mode == CUDNN_POINTWISE_RELU_FWD) {
    double zero = 0;
    if (cudnnBackendSetAttribute(how, CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, CUDNN_TYPE_DOUBLE, 1,
                                 &zero) != CUDNN_STATUS_SUCCESS) {
      return nullptr;  // what takes it is refused
    }
  }
  graph.finish(how);
  const Node node = graph.make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  graph.set(node, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, {how});
  graph.set(node, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, {x});
  if (b != nullptr) graph.set(node, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, {b});
  graph.set(node, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, {y});
  return graph.finish(node);
}

// The graph of the layer: three operations and the tensors between them.
static Node describe(CudnnGraph& graph, const FusedLayer& layer) {
  const Node x = channels_last(graph, kX, layer.n, layer.c, layer.h, layer.w, false);
  const Node filters = channels_last(graph, kFilters, layer.k, layer.c, layer.r, layer.s, false);
  const Node bias = channels_last(graph, kBias, 1, layer.k, 1, 1, false);
  const Node sums = channels_last(graph, kSums, layer.n, layer.k, layer.p(), layer.q(), true);
  const Node shifted = channels_last(graph, kShifted, layer.n, layer.k, layer.p(), layer.q(), true);
  const Node y = channels_last(graph, kY, layer.n, layer.k, layer.p(), layer.q(), false);
  const Node all = graph.make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.set_handle(all, CUDNN_ATTR_OPERATIONGRAPH_HANDLE);
  const Node first = convolution(graph, layer.pad, x, filters, sums);
  const Node second = pointwise(graph, CUDNN_POINTWISE_ADD, sums, bias, shifted);
  const Node third = pointwise(graph, CUDNN_POINTWISE_RELU_FWD, shifted, nullptr, y);
  graph.set(all, CUDNN_ATTR_OPERATIONGRAPH_OPS, {first, second, third});
  return graph.finish(all);
}

// nullptr if the engine does not work, or a call has failed.
static Node plan_of(cudnnHandle_t handle, Node engine, int64_t* workspace, cudnnStatus_t* status) {
  const auto good = [status](cudnnStatus_t of_call) {
    *status = of_call;
    return of_call == CUDNN_STATUS_SUCCESS;
  };
  Node plan = nullptr;
  int64_t count = 0;
  if (!good(cudnnBackendCreateDescriptor(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, &plan))) {
    return nullptr;
  }
  if (good(cudnnBackendSetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1,
                                    &handle)) &&
      good(cudnnBackendSetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
                                    CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &engine)) &&
      cudnnBackendFinalize(plan) == CUDNN_STATUS_SUCCESS &&
      good(cudnnBackendGetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                    CUDNN_TYPE_INT64, 1, &count, workspace))) {
    return plan;
  }
  cudnnBackendDestroyDescriptor(plan);
  return nullptr;
}

cudnnStatus_t build_fused_conv(const FusedLayer& layer, CompiledGraph* conv) {
  CudnnGraph& graph = conv->graph;
  const Node heuristic = graph.make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  graph.set(heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, {describe(graph, layer)});
  graph.set(heuristic, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_HEUR_MODE_B);
  graph.finish(heuristic);
  for (const Node engine : graph.configurations(heuristic)) {
    cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
    conv->plan = plan_of(graph.handle(), engine, &conv->workspace, &status);
    if (conv->plan != nullptr || status != CUDNN_STATUS_SUCCESS) return status;
  }
  return graph.ok() ? CUDNN_STATUS_NOT_SUPPORTED : graph.status();
}

cudnnStatus_t launch_fused_conv(const CompiledGraph& conv, const __half* d_x, const __half* d_f,
                                const __half* d_bias, void* d_workspace, __half* d_y) {
  CudnnGraph pack(conv.graph.handle());  // descriptors of this call alone
  const Node arrays = pack.make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  pack.set(arrays, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, {kX, kFilters, kBias, kY});
  pack.set_pointers(arrays, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
                    {const_cast<__half*>(d_x), const_cast<__half*>(d_f),
                     const_cast<__half*>(d_bias), static_cast<void*>(d_y)});
  pack.set_pointers(arrays, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, {d_workspace});
  pack.finish(arrays);
  if (!pack.ok()) return pack.status();
  return cudnnBackendExecute(pack.handle(), conv.plan, arrays);
}
