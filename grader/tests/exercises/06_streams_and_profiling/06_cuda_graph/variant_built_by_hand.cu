// Accepted: a step of its own kernel, and the nodes added one by one, without a capture.
#include "06_cuda_graph.h"

__global__ void step(const float* from, float* to, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    float value = from[i];
    if (i > 0 && i + 1 < n) value = 0.25f * (from[i - 1] + 2.0f * value + from[i + 1]);
    to[i] = value;
  }
}

cudaError_t build_steps(Rod* rod, cudaStream_t stream) {
  (void)stream;
  cudaGraph_t graph = nullptr;
  cudaError_t error = cudaGraphCreate(&graph, 0);
  cudaGraphNode_t last = nullptr;
  for (int i = 0; i < kSteps && error == cudaSuccess; ++i) {
    const float* from = i % 2 == 0 ? rod->d_a : rod->d_b;
    float* to = i % 2 == 0 ? rod->d_b : rod->d_a;
    void* arguments[] = {&from, &to, &rod->n};
    cudaKernelNodeParams parameters = {};
    parameters.func = reinterpret_cast<void*>(step);
    parameters.gridDim = dim3(1);
    parameters.blockDim = dim3(256);
    parameters.kernelParams = arguments;
    cudaGraphNode_t node = nullptr;
    error = cudaGraphAddKernelNode(&node, graph, &last, last == nullptr ? 0 : 1, &parameters);
    last = node;
  }
  if (error == cudaSuccess) error = cudaGraphInstantiate(&rod->replay, graph, 0);
  cudaGraphDestroy(graph);
  return error;
}

cudaError_t run_steps(const Rod& rod, cudaStream_t stream) {
  return cudaGraphLaunch(rod.replay, stream);
}

cudaError_t release_steps(Rod* rod) {
  const cudaError_t error = cudaGraphExecDestroy(rod->replay);
  rod->replay = nullptr;
  return error;
}
