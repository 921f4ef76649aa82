// 09/08 cuDNN, convolution: an image in the order that engines want, a graph that says how large
// its result is, and a plan that fits the workspace there is.
//   x, f, y  tensors of halves, channels last (08_cudnn_conv.h)
//   TODOs  5
#include "08_cudnn_conv.h"

using Node = cudnnBackendDescriptor_t;

void flatten(const float* const* const* x, int c, int h, int w, float* flat) {
  // TODO(1): Put each element where it lies with channels last. An image of 4 channels of
  // 2 x 3 has x[1][0][2] at 9.
  for (int i = 0; i < c * h * w; ++i) flat[i] = x[0][0][0];
}

static void count_places(const ConvSetup& setup, int* p, int* q) {
  // TODO(2): A graph has to say how large its result is, and cuDNN compares. How often does
  // the filter fit?
  *p = setup.h;
  *q = setup.w;
}

static Node make_graph(CudnnGraph& graph, const ConvSetup& setup) {
  // TODO(3): The graph must hold one operation, a convolution from kX and kFilters to kY that
  // moves as `setup` says. Its sums are floats, dilations are 1, and nothing is added to y.
  static_cast<void>(setup.n);
  return graph.make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
}

// The test calls count_places and make_graph as well, by the names that the header has for them.
void size_output(const ConvSetup& setup, int* p, int* q) { count_places(setup, p, q); }
Node describe_conv(CudnnGraph& graph, const ConvSetup& setup) { return make_graph(graph, setup); }

cudnnStatus_t choose_plan(const ConvSetup& setup, int64_t limit, CompiledGraph* conv) {
  // TODO(4): Of the configurations that the heuristic of mode A lists, the first counts whose
  // plan can be finished and needs at most `limit` bytes.
  static_cast<void>(limit);
  make_graph(conv->graph, setup);
  return CUDNN_STATUS_NOT_SUPPORTED;
}

cudnnStatus_t launch_conv(const CompiledGraph& conv, const __half* d_x, const __half* d_f,
                          void* d_workspace, __half* d_y) {
  // TODO(5): y is x filtered by f, by this plan.
  static_cast<void>(d_x), static_cast<void>(d_f), static_cast<void>(d_workspace);
  static_cast<void>(d_y);
  return conv.graph.ok() ? CUDNN_STATUS_NOT_INITIALIZED : conv.graph.status();
}
