// 09/07 cuDNN, activation: tanh by the smallest graph there is, one operation between two tensors.
//   x -> tanh -> y
//   describe the tensors and the operation -> ask for engines -> make a plan -> run it on arrays
//   x, y  n x h x w x c halves in device memory, channels last (07_cudnn_activation.h)
//   TODOs  4
#include "07_cudnn_activation.h"

using Node = cudnnBackendDescriptor_t;

static cudnnStatus_t make_tensor(int64_t name, const TensorSizes& s, Node* tensor) {
  //~ // TODO(1): *tensor must be a finished descriptor of halves with these sizes, in the order of
  //~ // the header, by cuDNN's own functions. If one is refused, *tensor is a nullptr and no
  //~ // descriptor is left.
  //~ static_cast<void>(name), static_cast<void>(s.n);
  //~ *tensor = nullptr;
  //~ return CUDNN_STATUS_NOT_INITIALIZED;
  //~begin 1
  const cudnnDataType_t type = CUDNN_DATA_HALF;
  const int64_t alignment = 16;  // bytes
  const int64_t sizes[] = {s.n, s.c, s.h, s.w};
  const int64_t strides[] = {s.h * s.w * s.c, 1, s.w * s.c, s.c};  // elements
  Node made = nullptr;
  *tensor = nullptr;
  cudnnStatus_t status = cudnnBackendCreateDescriptor(CUDNN_BACKEND_TENSOR_DESCRIPTOR, &made);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  const auto set = [&](cudnnBackendAttributeName_t attribute, cudnnBackendAttributeType_t as,
                       int64_t count, const void* values) {
    if (status != CUDNN_STATUS_SUCCESS) return;  // what was refused first stays
    status = cudnnBackendSetAttribute(made, attribute, as, count, values);
  };
  set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &name);
  set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
  set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment);
  set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, sizes);
  set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, strides);
  if (status == CUDNN_STATUS_SUCCESS) status = cudnnBackendFinalize(made);
  if (status == CUDNN_STATUS_SUCCESS) {
    *tensor = made;
  } else {
    cudnnBackendDestroyDescriptor(made);
  }
  return status;
  //~end
}

// The same, as one of the descriptors that a graph keeps and destroys.
static Node tensor(CudnnGraph& graph, int64_t name, const TensorSizes& s) {
  Node made = nullptr;
  const cudnnStatus_t status = make_tensor(name, s, &made);
  return graph.take(status, made);
}

static Node make_graph(CudnnGraph& graph, const TensorSizes& s) {
  //~ // TODO(2): The graph must hold one operation, the hyperbolic tangent from the tensor kX to
  //~ // the tensor kY, computed in floats. Every descriptor of it is made by `graph`.
  //~ static_cast<void>(tensor), static_cast<void>(s.n);
  //~ return graph.make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  //~begin 2
  const Node how = graph.make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  graph.set(how, CUDNN_ATTR_POINTWISE_MODE, CUDNN_POINTWISE_TANH_FWD);
  graph.set(how, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_DATA_FLOAT);
  graph.finish(how);
  const Node operation = graph.make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  graph.set(operation, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, {how});
  graph.set(operation, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, {tensor(graph, kX, s)});
  graph.set(operation, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, {tensor(graph, kY, s)});
  graph.finish(operation);
  const Node all = graph.make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.set_handle(all, CUDNN_ATTR_OPERATIONGRAPH_HANDLE);
  graph.set(all, CUDNN_ATTR_OPERATIONGRAPH_OPS, {operation});
  return graph.finish(all);
  //~end
}

// The test calls make_tensor and make_graph as well, by the names that the header has for them.
cudnnStatus_t describe_tensor(int64_t name, const TensorSizes& s, Node* made) {
  return make_tensor(name, s, made);
}
Node describe_tanh(CudnnGraph& graph, const TensorSizes& s) { return make_graph(graph, s); }

cudnnStatus_t build_tanh(const TensorSizes& s, CompiledGraph* tanh) {
  //~ // TODO(3): Ask the heuristic of mode A for its list (graph.configurations). The first
  //~ // configuration of which a plan can be finished is kept in tanh->plan, with its workspace;
  //~ // plans that are refused are destroyed.
  //~ make_graph(tanh->graph, s);
  //~ return CUDNN_STATUS_NOT_SUPPORTED;
  //~begin 3
  CudnnGraph& graph = tanh->graph;
  const Node heuristic = graph.make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  graph.set(heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, {make_graph(graph, s)});
  graph.set(heuristic, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_HEUR_MODE_A);
  graph.finish(heuristic);
  for (const Node engine : graph.configurations(heuristic)) {
    CudnnGraph attempt(graph.handle());  // a refusal of this plan ends nothing else
    const Node plan = attempt.make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    attempt.set_handle(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE);
    attempt.set(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, {engine});
    if (!attempt.ok()) return attempt.status();
    attempt.finish(plan);  // here the kernel is compiled
    if (!attempt.ok()) continue;
    int64_t count = 0;
    const cudnnStatus_t status =
        cudnnBackendGetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64,
                                 1, &count, &tanh->workspace);
    if (status != CUDNN_STATUS_SUCCESS) return status;
    tanh->plan = attempt.release(plan);
    return CUDNN_STATUS_SUCCESS;
  }
  return graph.ok() ? CUDNN_STATUS_NOT_SUPPORTED : graph.status();
  //~end
}

cudnnStatus_t launch_tanh(const CompiledGraph& tanh, const __half* d_x, void* d_workspace,
                          __half* d_y) {
  //~ // TODO(4): Say where x, y and the workspace lie, in a variant pack that lives for this
  //~ // call, and execute the plan.
  //~ static_cast<void>(d_x), static_cast<void>(d_workspace), static_cast<void>(d_y);
  //~ return tanh.graph.ok() ? CUDNN_STATUS_NOT_INITIALIZED : tanh.graph.status();
  //~begin 4
  CudnnGraph pack(tanh.graph.handle());  // descriptors of this call alone
  const Node arrays = pack.make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  pack.set(arrays, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, {kX, kY});
  pack.set_pointers(arrays, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
                    {const_cast<__half*>(d_x), static_cast<void*>(d_y)});
  pack.set_pointers(arrays, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, {d_workspace});
  pack.finish(arrays);
  if (!pack.ok()) return pack.status();
  return cudnnBackendExecute(pack.handle(), tanh.plan, arrays);
  //~end
}
