// 09/11 A cuDNN graph: convolution, bias and ReLU, described as three operations on tensors and
// compiled into one kernel.
//   x -> convolution -> sums -> add the bias -> shifted -> ReLU -> y
//   sums and shifted are virtual: names for what one operation hands to the next. No array is
//   behind them, and nothing of them goes to memory.
//   Shapes as in 11_cudnn_graph.h: halves, channels last.
//   TODOs  4
#include "11_cudnn_graph.h"

using Node = cudnnBackendDescriptor_t;

// The names of the arrays, by which launch_fused_conv says where they lie.
enum : int64_t { kX = 'x', kFilters = 'f', kBias = 'b', kSums = 's', kShifted = 't', kY = 'y' };

// A tensor of a x b x c x d elements in the order that cuDNN names them (images, channels, rows,
// columns), stored with its channels last. Virtual tensors hold floats, arrays hold halves.
static Node tensor(CudnnGraph& graph, int64_t name, int64_t images, int64_t channels, int64_t rows,
                   int64_t cols, bool is_virtual) {
  const Node node = graph.make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  graph.set(node, CUDNN_ATTR_TENSOR_UNIQUE_ID, {name});
  graph.set(node, CUDNN_ATTR_TENSOR_DATA_TYPE, is_virtual ? CUDNN_DATA_FLOAT : CUDNN_DATA_HALF);
  graph.set(node, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {int64_t{16}});
  graph.set(node, CUDNN_ATTR_TENSOR_IS_VIRTUAL, is_virtual);
  graph.set(node, CUDNN_ATTR_TENSOR_DIMENSIONS, {images, channels, rows, cols});
  //~ // TODO(1): This is NCHW. Neighbouring channels must be neighbours in memory.
  //~ graph.set(node, CUDNN_ATTR_TENSOR_STRIDES, {channels * rows * cols, rows * cols, cols, 1});
  //~begin 1
  graph.set(node, CUDNN_ATTR_TENSOR_STRIDES,
            {rows * cols * channels, 1, cols * channels, channels});
  //~end
  return graph.finish(node);
}

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
  //~ // TODO(2): This is a ReLU of x alone. The graph must hold all three operations, and no
  //~ // array for what one hands to the next.
  //~ const Node x = tensor(graph, kX, layer.n, layer.c, layer.h, layer.w, false);
  //~ const Node y = tensor(graph, kY, layer.n, layer.k, layer.p(), layer.q(), false);
  //~ const Node all = graph.make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  //~ graph.set_handle(all, CUDNN_ATTR_OPERATIONGRAPH_HANDLE);
  //~ static_cast<void>(convolution);
  //~ graph.set(all, CUDNN_ATTR_OPERATIONGRAPH_OPS,
  //~           {pointwise(graph, CUDNN_POINTWISE_RELU_FWD, x, nullptr, y)});
  //~ return graph.finish(all);
  //~begin 2
  const Node x = tensor(graph, kX, layer.n, layer.c, layer.h, layer.w, false);
  const Node filters = tensor(graph, kFilters, layer.k, layer.c, layer.r, layer.s, false);
  const Node bias = tensor(graph, kBias, 1, layer.k, 1, 1, false);
  const Node sums = tensor(graph, kSums, layer.n, layer.k, layer.p(), layer.q(), true);
  const Node shifted = tensor(graph, kShifted, layer.n, layer.k, layer.p(), layer.q(), true);
  const Node y = tensor(graph, kY, layer.n, layer.k, layer.p(), layer.q(), false);
  const Node all = graph.make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.set_handle(all, CUDNN_ATTR_OPERATIONGRAPH_HANDLE);
  const Node first = convolution(graph, layer.pad, x, filters, sums);
  const Node second = pointwise(graph, CUDNN_POINTWISE_ADD, sums, bias, shifted);
  const Node third = pointwise(graph, CUDNN_POINTWISE_RELU_FWD, shifted, nullptr, y);
  graph.set(all, CUDNN_ATTR_OPERATIONGRAPH_OPS, {first, second, third});
  return graph.finish(all);
  //~end
}

//~begin 3
// conv->plan: a plan of this configuration, which `works` if it can be finalized.
static cudnnStatus_t make_plan(cudnnHandle_t handle, Node engine, FusedConv* conv, bool* works) {
  cudnnStatus_t status =
      cudnnBackendCreateDescriptor(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, &conv->plan);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  status = cudnnBackendSetAttribute(conv->plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE,
                                    1, &handle);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  status = cudnnBackendSetAttribute(conv->plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
                                    CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &engine);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  // Here the kernel is compiled. A refusal is no error: the next configuration may work.
  if (cudnnBackendFinalize(conv->plan) != CUDNN_STATUS_SUCCESS) return CUDNN_STATUS_SUCCESS;
  int64_t count = 0;
  status = cudnnBackendGetAttribute(conv->plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                    CUDNN_TYPE_INT64, 1, &count, &conv->workspace);
  *works = status == CUDNN_STATUS_SUCCESS;
  return status;
}

//~end
cudnnStatus_t build_fused_conv(const FusedLayer& layer, FusedConv* conv) {
  //~ // TODO(3): Ask the heuristic of mode A for configurations (graph.configurations). The
  //~ // first of which a plan can be finalized is kept, with its workspace; the plans of the
  //~ // others are destroyed. Without one, CUDNN_STATUS_NOT_SUPPORTED.
  //~ conv->plan = nullptr;
  //~ describe(conv->graph, layer);
  //~ return CUDNN_STATUS_NOT_SUPPORTED;
  //~begin 3
  CudnnGraph& graph = conv->graph;
  const Node heuristic = graph.make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  graph.set(heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, {describe(graph, layer)});
  graph.set(heuristic, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_HEUR_MODE_A);
  graph.finish(heuristic);
  conv->plan = nullptr;
  for (const Node engine : graph.configurations(heuristic)) {
    bool works = false;
    const cudnnStatus_t status = make_plan(graph.handle(), engine, conv, &works);
    if (works) return CUDNN_STATUS_SUCCESS;
    if (conv->plan != nullptr) cudnnBackendDestroyDescriptor(conv->plan);
    conv->plan = nullptr;
    if (status != CUDNN_STATUS_SUCCESS) return status;
  }
  return graph.ok() ? CUDNN_STATUS_NOT_SUPPORTED : graph.status();
  //~end
}

cudnnStatus_t launch_fused_conv(const FusedConv& conv, const __half* d_x, const __half* d_f,
                                const __half* d_bias, void* d_workspace, __half* d_y) {
  //~ // TODO(4): Say where the four arrays and the workspace lie, in a variant pack that
  //~ // lives for this call, and execute the plan.
  //~ static_cast<void>(d_x), static_cast<void>(d_f), static_cast<void>(d_bias);
  //~ static_cast<void>(d_workspace), static_cast<void>(d_y);
  //~ return conv.graph.ok() ? CUDNN_STATUS_NOT_INITIALIZED : conv.graph.status();
  //~begin 4
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
  //~end
}
