// Planes one after the other, a size that is counted, plans that are all made before one is chosen.
#include <vector>

#include "08_cudnn_conv.h"

namespace {

int count(int size, int pad, int filter, int stride) {
  int places = 0;
  while (places * stride + filter <= size + 2 * pad) ++places;
  return places;
}

struct Made {
  cudnnBackendDescriptor_t plan;
  int64_t workspace;
};

// What can be made of these configurations, in their order.
cudnnStatus_t make_all(CudnnGraph& graph, const std::vector<cudnnBackendDescriptor_t>& engines,
                       std::vector<Made>* all) {
  for (const auto engine : engines) {
    cudnnBackendDescriptor_t plan = nullptr;
    cudnnHandle_t handle = graph.handle();
    int64_t number = 0, bytes = 0;
    cudnnStatus_t status =
        cudnnBackendCreateDescriptor(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, &plan);
    if (status != CUDNN_STATUS_SUCCESS) return status;
    graph.take(status, plan);  // destroyed with the graph, whatever becomes of it
    status = cudnnBackendSetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
                                      CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &engine);
    if (status != CUDNN_STATUS_SUCCESS) return status;
    status = cudnnBackendSetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1,
                                      &handle);
    if (status != CUDNN_STATUS_SUCCESS) return status;
    if (cudnnBackendFinalize(plan) != CUDNN_STATUS_SUCCESS) continue;
    status = cudnnBackendGetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                      CUDNN_TYPE_INT64, 1, &number, &bytes);
    if (status != CUDNN_STATUS_SUCCESS) return status;
    all->push_back({plan, bytes});
  }
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

void flatten(const float* const* const* x, int c, int h, int w, float* flat) {
  for (int channel = 0; channel < c; ++channel) {
    for (int i = 0; i < h * w; ++i) flat[i * c + channel] = x[channel][i / w][i % w];
  }
}

namespace {

void size_of(const ConvSetup& setup, int* p, int* q) {
  *p = count(setup.h, setup.pad_h, setup.r, setup.stride);
  *q = count(setup.w, setup.pad_w, setup.s, setup.stride);
}

cudnnBackendDescriptor_t graph_of(CudnnGraph& graph, const ConvSetup& l) {
  int p = 0, q = 0;
  size_of(l, &p, &q);
  const auto how = graph.make(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  for (const auto side :
       {CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS}) {
    graph.set(how, side, {l.pad_h, l.pad_w});
  }
  graph.set(how, CUDNN_ATTR_CONVOLUTION_DILATIONS, {1, 1});
  graph.set(how, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, {l.stride, l.stride});
  graph.set(how, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, {int64_t{2}});
  graph.set(how, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION);
  graph.set(how, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT);
  graph.finish(how);
  const auto y = channels_last(graph, kY, l.n, l.k, p, q);
  const auto x = channels_last(graph, kX, l.n, l.c, l.h, l.w);
  const auto f = channels_last(graph, kFilters, l.k, l.c, l.r, l.s);
  const auto node = graph.make(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
  graph.set(node, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, 0.0f);
  graph.set(node, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, 1.0f);
  graph.set(node, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, {y});
  graph.set(node, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, {f});
  graph.set(node, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, {x});
  graph.set(node, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, {how});
  const auto all = graph.make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.set(all, CUDNN_ATTR_OPERATIONGRAPH_OPS, {graph.finish(node)});
  graph.set_handle(all, CUDNN_ATTR_OPERATIONGRAPH_HANDLE);
  return graph.finish(all);
}

}  // namespace

void size_output(const ConvSetup& setup, int* p, int* q) { size_of(setup, p, q); }

cudnnBackendDescriptor_t describe_conv(CudnnGraph& graph, const ConvSetup& setup) {
  return graph_of(graph, setup);
}

cudnnStatus_t choose_plan(const ConvSetup& setup, int64_t limit, CompiledGraph* conv) {
  CudnnGraph& graph = conv->graph;
  const auto operations = graph_of(graph, setup);
  const auto heuristic = graph.make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  graph.set(heuristic, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_HEUR_MODE_A);
  graph.set(heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, {operations});
  const auto engines = graph.configurations(graph.finish(heuristic));
  if (!graph.ok()) return graph.status();
  std::vector<Made> all;
  const cudnnStatus_t status = make_all(graph, engines, &all);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  for (const Made& each : all) {
    if (each.workspace > limit) continue;
    conv->plan = graph.release(each.plan);
    conv->workspace = each.workspace;
    return CUDNN_STATUS_SUCCESS;
  }
  return CUDNN_STATUS_NOT_SUPPORTED;
}

cudnnStatus_t launch_conv(const CompiledGraph& conv, const __half* d_x, const __half* d_f,
                          void* d_workspace, __half* d_y) {
  CudnnGraph call(conv.graph.handle());
  const auto pack = call.make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  call.set_pointers(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, {d_workspace});
  call.set_pointers(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
                    {d_y, const_cast<__half*>(d_f), const_cast<__half*>(d_x)});
  call.set(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, {kY, kFilters, kX});
  call.finish(pack);
  return call.ok() ? cudnnBackendExecute(call.handle(), conv.plan, pack) : call.status();
}
