// Accepted: nodes added one by one, without a capture, both rods in one kernel of one chain.
#include "06_cuda_graph.h"

// A block for each rod.
__global__ void step(const float* from, float* to, int n) {
  const int first = blockIdx.x * n;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    float value = from[first + i];
    if (i > 0 && i + 1 < n) {
      value = 0.25f * (from[first + i - 1] + 2.0f * value + from[first + i + 1]);
    }
    to[first + i] = value;
  }
}

cudaError_t build_steps(Rods* rods, cudaStream_t stream) {
  (void)stream;
  cudaGraph_t graph = nullptr;
  cudaError_t error = cudaGraphCreate(&graph, 0);
  cudaGraphNode_t last = nullptr;
  for (int i = 0; i < kSteps && error == cudaSuccess; ++i) {
    const float* from = i % 2 == 0 ? rods->d_a : rods->d_b;
    float* to = i % 2 == 0 ? rods->d_b : rods->d_a;
    void* arguments[] = {&from, &to, &rods->n};
    cudaKernelNodeParams parameters = {};
    parameters.func = reinterpret_cast<void*>(step);
    parameters.gridDim = dim3(kRods);
    parameters.blockDim = dim3(256);
    parameters.kernelParams = arguments;
    cudaGraphNode_t node = nullptr;
    error = cudaGraphAddKernelNode(&node, graph, &last, last == nullptr ? 0 : 1, &parameters);
    last = node;
  }
  if (error == cudaSuccess) error = cudaGraphInstantiate(&rods->replay, graph, 0);
  cudaGraphDestroy(graph);
  return error;
}

cudaError_t run_steps(const Rods& rods, cudaStream_t stream) {
  return cudaGraphLaunch(rods.replay, stream);
}

cudaError_t release_steps(Rods* rods) {
  if (rods->replay == nullptr) return cudaSuccess;
  const cudaError_t error = cudaGraphExecDestroy(rods->replay);
  rods->replay = nullptr;
  return error;
}
