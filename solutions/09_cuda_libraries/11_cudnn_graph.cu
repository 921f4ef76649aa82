// 09/11 A cuDNN graph: convolution, bias and ReLU, described as three operations on tensors and
// compiled into one kernel.
//   x -> convolution -> sums -> add the bias -> shifted -> ReLU -> y
//   sums and shifted are virtual: names for what one operation hands to the next. No array is
//   behind them, and nothing of them goes to memory.
//   Shapes as in 11_cudnn_graph.h: halves, channels last.
//   TODOs  3
#include "11_cudnn_graph.h"

using Node = cudnnBackendDescriptor_t;

// The names of the tensors, by which launch_fused_conv says where those lie that have an array.
enum : int64_t { kX = 'x', kFilters = 'f', kBias = 'b', kSums = 's', kShifted = 't', kY = 'y' };

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

// y = x + b or y = max(0, x), by the mode; a nullptr stands for no b. x and y are what goes in and
// comes out of this operation, whichever tensors of the layer these are.
static Node pointwise(CudnnGraph& graph, cudnnPointwiseMode_t mode, Node x, Node b, Node y) {
  //~ // TODO(1): The operation of this mode, computed in floats. One with two operands takes the
  //~ // second from b, which may have one element for all pixels of a channel.
  //~ static_cast<void>(mode), static_cast<void>(x), static_cast<void>(b), static_cast<void>(y);
  //~ return graph.make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  //~begin 1
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
  //~end
}

// The graph of the layer: three operations and the tensors between them.
static Node describe(CudnnGraph& graph, const FusedLayer& layer) {
  //~ // TODO(2): This is a ReLU of x alone, and not even of the size of y. The graph must hold all
  //~ // three operations, and no array for what one hands to the next.
  //~ const Node x = channels_last(graph, kX, layer.n, layer.c, layer.h, layer.w);
  //~ const Node y = channels_last(graph, kY, layer.n, layer.k, layer.p(), layer.q());
  //~ const Node all = graph.make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  //~ graph.set_handle(all, CUDNN_ATTR_OPERATIONGRAPH_HANDLE);
  //~ static_cast<void>(convolution);
  //~ graph.set(all, CUDNN_ATTR_OPERATIONGRAPH_OPS,
  //~           {pointwise(graph, CUDNN_POINTWISE_RELU_FWD, x, nullptr, y)});
  //~ return graph.finish(all);
  //~begin 2
  const Node x = channels_last(graph, kX, layer.n, layer.c, layer.h, layer.w);
  const Node filters = channels_last(graph, kFilters, layer.k, layer.c, layer.r, layer.s);
  const Node bias = channels_last(graph, kBias, 1, layer.k, 1, 1);
  const Node sums = channels_last(graph, kSums, layer.n, layer.k, layer.p(), layer.q(), true);
  const Node shifted = channels_last(graph, kShifted, layer.n, layer.k, layer.p(), layer.q(), true);
  const Node y = channels_last(graph, kY, layer.n, layer.k, layer.p(), layer.q());
  const Node all = graph.make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.set_handle(all, CUDNN_ATTR_OPERATIONGRAPH_HANDLE);
  const Node first = convolution(graph, layer.pad, x, filters, sums);
  const Node second = pointwise(graph, CUDNN_POINTWISE_ADD, sums, bias, shifted);
  const Node third = pointwise(graph, CUDNN_POINTWISE_RELU_FWD, shifted, nullptr, y);
  graph.set(all, CUDNN_ATTR_OPERATIONGRAPH_OPS, {first, second, third});
  return graph.finish(all);
  //~end
}

cudnnStatus_t build_fused_conv(const FusedLayer& layer, CompiledGraph* conv) {
  return compile(describe(conv->graph, layer), conv);
}

cudnnStatus_t launch_fused_conv(const CompiledGraph& conv, const __half* d_x, const __half* d_f,
                                const __half* d_bias, void* d_workspace, __half* d_y) {
  //~ // TODO(3): Say where the four arrays and the workspace lie, in a variant pack that
  //~ // lives for this call, and execute the plan.
  //~ static_cast<void>(d_x), static_cast<void>(d_f), static_cast<void>(d_bias);
  //~ static_cast<void>(d_workspace), static_cast<void>(d_y);
  //~ return conv.graph.ok() ? CUDNN_STATUS_NOT_INITIALIZED : conv.graph.status();
  //~begin 3
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
