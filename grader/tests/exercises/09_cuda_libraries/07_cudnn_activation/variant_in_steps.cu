// A table of attributes, a plan by cuDNN's own functions, and the arrays in the other order.
#include "07_cudnn_activation.h"

namespace {

struct Attribute {
  cudnnBackendAttributeName_t name;
  cudnnBackendAttributeType_t type;
  int64_t count;
  const void* values;
};

cudnnStatus_t set_all(cudnnBackendDescriptor_t node, std::initializer_list<Attribute> all) {
  for (const Attribute& each : all) {
    const cudnnStatus_t status =
        cudnnBackendSetAttribute(node, each.name, each.type, each.count, each.values);
    if (status != CUDNN_STATUS_SUCCESS) return status;
  }
  return CUDNN_STATUS_SUCCESS;
}

// A plan of this configuration, nullptr if its engine does not take the graph.
cudnnStatus_t plan_of(cudnnHandle_t handle, cudnnBackendDescriptor_t engine, CompiledGraph* made) {
  cudnnStatus_t status =
      cudnnBackendCreateDescriptor(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, &made->plan);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  bool works = false;
  int64_t count = 0;
  status =
      set_all(made->plan,
              {{CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &engine},
               {CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle}});
  if (status == CUDNN_STATUS_SUCCESS) {
    works = cudnnBackendFinalize(made->plan) == CUDNN_STATUS_SUCCESS;
  }
  if (works) {
    status = cudnnBackendGetAttribute(made->plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                      CUDNN_TYPE_INT64, 1, &count, &made->workspace);
  }
  if (!works || status != CUDNN_STATUS_SUCCESS) {
    cudnnBackendDestroyDescriptor(made->plan);
    made->plan = nullptr;
  }
  return status;
}

cudnnStatus_t tensor_of(int64_t name, const TensorSizes& s, cudnnBackendDescriptor_t* tensor) {
  const cudnnDataType_t type = CUDNN_DATA_HALF;
  const int64_t bytes = 16;
  const int64_t sizes[4] = {s.n, s.c, s.h, s.w};
  int64_t strides[4] = {};
  strides[1] = 1;
  strides[3] = s.c;
  strides[2] = strides[3] * s.w;
  strides[0] = strides[2] * s.h;
  *tensor = nullptr;
  cudnnStatus_t status = cudnnBackendCreateDescriptor(CUDNN_BACKEND_TENSOR_DESCRIPTOR, tensor);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  status = set_all(*tensor, {{CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, strides},
                             {CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, sizes},
                             {CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &bytes},
                             {CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type},
                             {CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &name}});
  if (status == CUDNN_STATUS_SUCCESS) status = cudnnBackendFinalize(*tensor);
  if (status != CUDNN_STATUS_SUCCESS) {
    cudnnBackendDestroyDescriptor(*tensor);
    *tensor = nullptr;
  }
  return status;
}

cudnnBackendDescriptor_t graph_of(CudnnGraph& graph, const TensorSizes& s) {
  cudnnBackendDescriptor_t ends[2] = {};  // x, y
  for (int i = 0; i < 2; ++i) {
    cudnnBackendDescriptor_t made = nullptr;
    const cudnnStatus_t status = tensor_of(i == 0 ? kX : kY, s, &made);
    ends[i] = graph.take(status, made);
  }
  const auto operation = graph.make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  const auto mode = graph.make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  graph.set(mode, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_DATA_FLOAT);
  graph.set(mode, CUDNN_ATTR_POINTWISE_MODE, CUDNN_POINTWISE_TANH_FWD);
  graph.set(operation, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, {ends[1]});
  graph.set(operation, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, {ends[0]});
  graph.set(operation, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, {graph.finish(mode)});
  const auto all = graph.make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.set(all, CUDNN_ATTR_OPERATIONGRAPH_OPS, {graph.finish(operation)});
  graph.set_handle(all, CUDNN_ATTR_OPERATIONGRAPH_HANDLE);
  return graph.finish(all);
}

}  // namespace

cudnnStatus_t describe_tensor(int64_t name, const TensorSizes& s,
                              cudnnBackendDescriptor_t* tensor) {
  return tensor_of(name, s, tensor);
}

cudnnBackendDescriptor_t describe_tanh(CudnnGraph& graph, const TensorSizes& s) {
  return graph_of(graph, s);
}

cudnnStatus_t build_tanh(const TensorSizes& s, CompiledGraph* tanh) {
  CudnnGraph& graph = tanh->graph;
  const auto operations = graph_of(graph, s);
  const auto heuristic = graph.make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  graph.set(heuristic, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_HEUR_MODE_A);
  graph.set(heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, {operations});
  for (const auto engine : graph.configurations(graph.finish(heuristic))) {
    const cudnnStatus_t status = plan_of(graph.handle(), engine, tanh);
    if (tanh->plan != nullptr || status != CUDNN_STATUS_SUCCESS) return status;
  }
  return graph.ok() ? CUDNN_STATUS_NOT_SUPPORTED : graph.status();
}

cudnnStatus_t launch_tanh(const CompiledGraph& tanh, const __half* d_x, void* d_workspace,
                          __half* d_y) {
  CudnnGraph call(tanh.graph.handle());
  const auto pack = call.make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  call.set_pointers(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, {d_workspace});
  call.set(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, {kY, kX});
  call.set_pointers(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
                    {static_cast<void*>(d_y), const_cast<__half*>(d_x)});
  call.finish(pack);
  return call.ok() ? cudnnBackendExecute(call.handle(), tanh.plan, pack) : call.status();
}
