// 09/08 cuDNN, convolution: an image in the order that engines want, a graph that says how large
// its result is, and a plan that fits the workspace there is.
//   x, f, y  tensors of halves, channels last (08_cudnn_conv.h)
//   TODOs  5
#include "08_cudnn_conv.h"

using Node = cudnnBackendDescriptor_t;

void flatten(const float* const* const* x, int c, int h, int w, float* flat) {
  //~ // TODO(1): Put each element where it lies with channels last. An image of 4 channels of
  //~ // 2 x 3 has x[1][0][2] at 9.
  //~ for (int i = 0; i < c * h * w; ++i) flat[i] = x[0][0][0];
  //~begin 1
  for (int row = 0; row < h; ++row) {
    for (int col = 0; col < w; ++col) {
      for (int channel = 0; channel < c; ++channel) {
        flat[(row * w + col) * c + channel] = x[channel][row][col];
      }
    }
  }
  //~end
}

static void count_places(const ConvSetup& setup, int* p, int* q) {
  //~ // TODO(2): A graph has to say how large its result is, and cuDNN compares. How often does
  //~ // the filter fit?
  //~ *p = setup.h;
  //~ *q = setup.w;
  //~begin 2
  *p = (setup.h + 2 * setup.pad_h - setup.r) / setup.stride + 1;
  *q = (setup.w + 2 * setup.pad_w - setup.s) / setup.stride + 1;
  //~end
}

//~begin 3
// How the filters move.
static Node movement(CudnnGraph& graph, const ConvSetup& setup) {
  const Node how = graph.make(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  graph.set(how, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, {int64_t{2}});
  graph.set(how, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT);  // of the sums
  graph.set(how, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION);
  graph.set(how, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, {setup.pad_h, setup.pad_w});
  graph.set(how, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, {setup.pad_h, setup.pad_w});
  graph.set(how, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, {setup.stride, setup.stride});
  graph.set(how, CUDNN_ATTR_CONVOLUTION_DILATIONS, {int64_t{1}, int64_t{1}});
  return graph.finish(how);
}

//~end
static Node make_graph(CudnnGraph& graph, const ConvSetup& setup) {
  //~ // TODO(3): The graph must hold one operation, a convolution from kX and kFilters to kY that
  //~ // moves as `setup` says. Its sums are floats, dilations are 1, and nothing is added to y.
  //~ static_cast<void>(setup.n);
  //~ return graph.make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  //~begin 3
  int p = 0, q = 0;
  count_places(setup, &p, &q);
  const Node x = channels_last(graph, kX, setup.n, setup.c, setup.h, setup.w);
  const Node filters = channels_last(graph, kFilters, setup.k, setup.c, setup.r, setup.s);
  const Node y = channels_last(graph, kY, setup.n, setup.k, p, q);
  const Node how = movement(graph, setup);
  const Node operation = graph.make(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
  graph.set(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, {how});
  graph.set(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, {x});
  graph.set(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, {filters});
  graph.set(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, {y});
  graph.set(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, 1.0f);
  graph.set(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, 0.0f);
  graph.finish(operation);
  const Node all = graph.make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.set_handle(all, CUDNN_ATTR_OPERATIONGRAPH_HANDLE);
  graph.set(all, CUDNN_ATTR_OPERATIONGRAPH_OPS, {operation});
  return graph.finish(all);
  //~end
}

// The test calls count_places and make_graph as well, by the names that the header has for them.
void size_output(const ConvSetup& setup, int* p, int* q) { count_places(setup, p, q); }
Node describe_conv(CudnnGraph& graph, const ConvSetup& setup) { return make_graph(graph, setup); }

//~begin 4
// conv->plan: a plan of this configuration, which `fits` if it can be made and needs no more than
// `limit` bytes.
static cudnnStatus_t try_plan(Node engine, int64_t limit, CompiledGraph* conv, bool* fits) {
  CudnnGraph attempt(conv->graph.handle());  // a refusal of this plan ends nothing else
  const Node plan = attempt.make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  attempt.set_handle(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE);
  attempt.set(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, {engine});
  if (!attempt.ok()) return attempt.status();
  attempt.finish(plan);
  if (!attempt.ok()) return CUDNN_STATUS_SUCCESS;
  int64_t count = 0, needed = 0;
  const cudnnStatus_t status = cudnnBackendGetAttribute(
      plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &count, &needed);
  *fits = status == CUDNN_STATUS_SUCCESS && needed <= limit;
  if (*fits) {
    conv->plan = attempt.release(plan);
    conv->workspace = needed;
  }
  return status;
}

//~end
cudnnStatus_t choose_plan(const ConvSetup& setup, int64_t limit, CompiledGraph* conv) {
  //~ // TODO(4): Of the configurations that the heuristic of mode A lists, the first counts whose
  //~ // plan can be finished and needs at most `limit` bytes.
  //~ static_cast<void>(limit);
  //~ make_graph(conv->graph, setup);
  //~ return CUDNN_STATUS_NOT_SUPPORTED;
  //~begin 4
  CudnnGraph& graph = conv->graph;
  const Node heuristic = graph.make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  graph.set(heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, {make_graph(graph, setup)});
  graph.set(heuristic, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_HEUR_MODE_A);
  graph.finish(heuristic);
  for (const Node engine : graph.configurations(heuristic)) {
    bool fits = false;
    const cudnnStatus_t status = try_plan(engine, limit, conv, &fits);
    if (fits || status != CUDNN_STATUS_SUCCESS) return status;
  }
  return graph.ok() ? CUDNN_STATUS_NOT_SUPPORTED : graph.status();
  //~end
}

cudnnStatus_t launch_conv(const CompiledGraph& conv, const __half* d_x, const __half* d_f,
                          void* d_workspace, __half* d_y) {
  //~ // TODO(5): y is x filtered by f, by this plan.
  //~ static_cast<void>(d_x), static_cast<void>(d_f), static_cast<void>(d_workspace);
  //~ static_cast<void>(d_y);
  //~ return conv.graph.ok() ? CUDNN_STATUS_NOT_INITIALIZED : conv.graph.status();
  //~begin 5
  CudnnGraph pack(conv.graph.handle());
  const Node arrays = pack.make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  pack.set(arrays, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, {kX, kFilters, kY});
  pack.set_pointers(arrays, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
                    {const_cast<__half*>(d_x), const_cast<__half*>(d_f), static_cast<void*>(d_y)});
  pack.set_pointers(arrays, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, {d_workspace});
  pack.finish(arrays);
  if (!pack.ok()) return pack.status();
  return cudnnBackendExecute(pack.handle(), conv.plan, arrays);
  //~end
}
