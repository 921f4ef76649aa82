// 09/07 cuDNN, activation: tanh by the smallest graph there is, one operation between two tensors.
//   x -> tanh -> y
//   describe the tensors and the operation -> ask for engines -> make a plan -> run it on arrays
//   x, y  n x h x w x c halves in device memory, channels last (07_cudnn_activation.h)
//   TODOs  4
#include "07_cudnn_activation.h"

using Node = cudnnBackendDescriptor_t;

static cudnnStatus_t make_tensor(int64_t name, const TensorSizes& s, Node* tensor) {
  // TODO(1): *tensor must be a finished descriptor of halves with these sizes, in the order of
  // the header, by cuDNN's own functions. If one is refused, *tensor is a nullptr and no
  // descriptor is left.
  static_cast<void>(name), static_cast<void>(s.n);
  *tensor = nullptr;
  return CUDNN_STATUS_NOT_INITIALIZED;
}

// The same, as one of the descriptors that a graph keeps and destroys.
static Node tensor(CudnnGraph& graph, int64_t name, const TensorSizes& s) {
  Node made = nullptr;
  const cudnnStatus_t status = make_tensor(name, s, &made);
  return graph.take(status, made);
}

static Node make_graph(CudnnGraph& graph, const TensorSizes& s) {
  // TODO(2): The graph must hold one operation, the hyperbolic tangent from the tensor kX to
  // the tensor kY, computed in floats. Every descriptor of it is made by `graph`.
  static_cast<void>(tensor), static_cast<void>(s.n);
  return graph.make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
}

// The test calls make_tensor and make_graph as well, by the names that the header has for them.
cudnnStatus_t describe_tensor(int64_t name, const TensorSizes& s, Node* made) {
  return make_tensor(name, s, made);
}
Node describe_tanh(CudnnGraph& graph, const TensorSizes& s) { return make_graph(graph, s); }

cudnnStatus_t build_tanh(const TensorSizes& s, CompiledGraph* tanh) {
  // TODO(3): Ask the heuristic of mode A for its list (graph.configurations). The first
  // configuration of which a plan can be finished is kept in tanh->plan, with its workspace;
  // plans that are refused are destroyed.
  make_graph(tanh->graph, s);
  return CUDNN_STATUS_NOT_SUPPORTED;
}

cudnnStatus_t launch_tanh(const CompiledGraph& tanh, const __half* d_x, void* d_workspace,
                          __half* d_y) {
  // TODO(4): Say where x, y and the workspace lie, in a variant pack that lives for this
  // call, and execute the plan.
  static_cast<void>(d_x), static_cast<void>(d_workspace), static_cast<void>(d_y);
  return tanh.graph.ok() ? CUDNN_STATUS_NOT_INITIALIZED : tanh.graph.status();
}
