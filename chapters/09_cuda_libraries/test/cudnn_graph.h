// What the tests of cuDNN graphs (09/07, 08, 18) share: graphs of the test's own, the plans that
// can be made of one, attributes as cuDNN has them, and a convolution on the CPU.
#ifndef CHAPTERS_09_CUDA_LIBRARIES_TEST_CUDNN_GRAPH_H_
#define CHAPTERS_09_CUDA_LIBRARIES_TEST_CUDNN_GRAPH_H_

#include <algorithm>
#include <string>
#include <vector>

#include "09_cuda_libraries/07_cudnn_activation_support.h"
#include "09_cuda_libraries/test/cudnn.h"

using Node = cudnnBackendDescriptor_t;

// A tensor of halves with its channels last.
inline Node own_tensor(CudnnGraph& graph, int64_t name, int64_t n, int64_t c, int64_t h,
                       int64_t w) {
  const Node node = graph.make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  graph.set(node, CUDNN_ATTR_TENSOR_UNIQUE_ID, {name});
  graph.set(node, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_DATA_HALF);
  graph.set(node, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {int64_t{16}});
  graph.set(node, CUDNN_ATTR_TENSOR_DIMENSIONS, {n, c, h, w});
  graph.set(node, CUDNN_ATTR_TENSOR_STRIDES, {h * w * c, 1, w * c, c});
  return graph.finish(node);
}

// The graph of one operation.
inline Node own_graph(CudnnGraph& graph, Node operation) {
  const Node all = graph.make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.set_handle(all, CUDNN_ATTR_OPERATIONGRAPH_HANDLE);
  graph.set(all, CUDNN_ATTR_OPERATIONGRAPH_OPS, {operation});
  return graph.finish(all);
}

// y = tanh(x), of tensors that are described already.
inline Node own_tanh(CudnnGraph& graph, Node x, Node y) {
  const Node how = graph.make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  graph.set(how, CUDNN_ATTR_POINTWISE_MODE, CUDNN_POINTWISE_TANH_FWD);
  graph.set(how, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_DATA_FLOAT);
  graph.finish(how);
  const Node node = graph.make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  graph.set(node, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, {how});
  graph.set(node, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, {x});
  graph.set(node, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, {y});
  return own_graph(graph, graph.finish(node));
}

// A layer with the letters of cuDNN: n, c, h, w; k, r, s; pad_h, pad_w; stride.
template <class Layer>
int rows_of(const Layer& l) {
  return (l.h + 2 * l.pad_h - l.r) / l.stride + 1;
}
template <class Layer>
int cols_of(const Layer& l) {
  return (l.w + 2 * l.pad_w - l.s) / l.stride + 1;
}

// y = x filtered by the filters f, of tensors with the names x, f and y. The caller says how large
// y is.
template <class Layer>
Node own_convolution(CudnnGraph& graph, const Layer& l, int64_t x_name, int64_t f_name,
                     int64_t y_name) {
  const Node x = own_tensor(graph, x_name, l.n, l.c, l.h, l.w);
  const Node f = own_tensor(graph, f_name, l.k, l.c, l.r, l.s);
  const Node y = own_tensor(graph, y_name, l.n, l.k, rows_of(l), cols_of(l));
  const Node how = graph.make(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  graph.set(how, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, {int64_t{2}});
  graph.set(how, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT);
  graph.set(how, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION);
  graph.set(how, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, {l.pad_h, l.pad_w});
  graph.set(how, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, {l.pad_h, l.pad_w});
  graph.set(how, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, {l.stride, l.stride});
  graph.set(how, CUDNN_ATTR_CONVOLUTION_DILATIONS, {int64_t{1}, int64_t{1}});
  graph.finish(how);
  const Node node = graph.make(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
  graph.set(node, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, {how});
  graph.set(node, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, {x});
  graph.set(node, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, {f});
  graph.set(node, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, {y});
  graph.set(node, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, 1.0f);
  graph.set(node, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, 0.0f);
  return own_graph(graph, graph.finish(node));
}

// The list of the heuristic of mode A for a finished graph.
inline std::vector<Node> own_list(CudnnGraph& graph, Node operations) {
  const Node heuristic = graph.make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  graph.set(heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, {operations});
  graph.set(heuristic, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_HEUR_MODE_A);
  graph.finish(heuristic);
  return graph.configurations(heuristic);
}

// What cuDNN says to the first of the calls that refuses this layer.
template <class Layer>
cudnnStatus_t refusal_of(const Layer& l) {
  const CudnnHandle handle;
  CudnnGraph graph(handle.get());
  own_list(graph, own_convolution(graph, l, 1, 2, 3));
  return graph.status();
}

// A plan that can be made of a configuration: its place in the list, and what it needs.
struct OwnPlan {
  int number = -1;
  int64_t workspace = 0;  // bytes
  Node node = nullptr;    // of the graph that it was asked for
};

// All that can be made, in the order of the list.
inline std::vector<OwnPlan> plans_of(CudnnGraph& graph, Node operations) {
  const std::vector<Node> engines = own_list(graph, operations);
  expect_success("the test's own graph", graph.status());
  std::vector<OwnPlan> found;
  for (size_t i = 0; i < engines.size(); ++i) {
    CudnnGraph made(graph.handle());
    const Node plan = made.make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    made.set_handle(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE);
    made.set(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, {engines[i]});
    made.finish(plan);
    if (!made.ok()) continue;
    OwnPlan each;
    int64_t count = 0;
    each.number = static_cast<int>(i);
    expect_success("the test's own plan",
                   cudnnBackendGetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                            CUDNN_TYPE_INT64, 1, &count, &each.workspace));
    each.node = graph.take(CUDNN_STATUS_SUCCESS, made.release(plan));
    found.push_back(each);
  }
  return found;
}

// Executes a plan and waits.
inline cudnnStatus_t own_call(CudnnGraph& graph, Node plan, std::initializer_list<int64_t> names,
                              std::initializer_list<void*> arrays, void* workspace) {
  const Node pack = graph.make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  graph.set(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, names);
  graph.set_pointers(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, arrays);
  graph.set_pointers(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, {workspace});
  graph.finish(pack);
  if (!graph.ok()) return graph.status();
  const cudnnStatus_t status = cudnnBackendExecute(graph.handle(), plan, pack);
  cudaDeviceSynchronize();
  return status;
}

// Reference, in double, all with channels last.
template <class Layer>
std::vector<double> convolution_on_cpu(const std::vector<float>& x, const std::vector<float>& f,
                                       const Layer& l) {
  std::vector<double> y;
  const int p = rows_of(l), q = cols_of(l);
  for (int at = 0; at < l.n * p * q * l.k; ++at) {
    const int k = at % l.k, col = at / l.k % q, row = at / l.k / q % p, image = at / l.k / q / p;
    double sum = 0;
    for (int i = 0; i < l.r; ++i) {
      for (int j = 0; j < l.s; ++j) {
        const int from_row = row * l.stride + i - l.pad_h, from_col = col * l.stride + j - l.pad_w;
        if (from_row < 0 || from_row >= l.h || from_col < 0 || from_col >= l.w) continue;
        for (int c = 0; c < l.c; ++c) {
          sum += static_cast<double>(x[((image * l.h + from_row) * l.w + from_col) * l.c + c]) *
                 f[((k * l.r + i) * l.s + j) * l.c + c];
        }
      }
    }
    y.push_back(sum);
  }
  return y;
}

#endif  // CHAPTERS_09_CUDA_LIBRARIES_TEST_CUDNN_GRAPH_H_
