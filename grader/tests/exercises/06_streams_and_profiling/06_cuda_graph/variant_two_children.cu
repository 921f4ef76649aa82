// Accepted: each rod is captured for itself; a third graph joins the two as its children.
#include "06_cuda_graph.h"

// All time steps of one rod, from d_a to d_b and back, so that the result is in d_a.
static cudaError_t enqueue_rod(const Rods& rods, int rod, cudaStream_t stream) {
  static_assert(kSteps % 2 == 0, "the last step must write d_a");
  float* a = rods.d_a + rod * rods.n;
  float* b = rods.d_b + rod * rods.n;
  cudaError_t error = cudaSuccess;
  for (int step = 0; step < kSteps && error == cudaSuccess; step += 2) {
    error = launch_diffusion(a, b, rods.n, stream);
    if (error == cudaSuccess) error = launch_diffusion(b, a, rods.n, stream);
  }
  return error;
}

static cudaError_t capture_rod(const Rods& rods, int rod, cudaStream_t stream, cudaGraph_t* graph) {
  cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  if (error != cudaSuccess) return error;
  error = enqueue_rod(rods, rod, stream);
  const cudaError_t ended = cudaStreamEndCapture(stream, graph);
  return error == cudaSuccess ? ended : error;
}

cudaError_t build_steps(Rods* rods, cudaStream_t stream) {
  cudaGraph_t both = nullptr, one[kRods] = {};
  cudaError_t error = cudaGraphCreate(&both, 0);
  for (int rod = 0; rod < kRods && error == cudaSuccess; ++rod) {
    cudaGraphNode_t node = nullptr;
    error = capture_rod(*rods, rod, stream, &one[rod]);
    if (error == cudaSuccess) error = cudaGraphAddChildGraphNode(&node, both, nullptr, 0, one[rod]);
  }
  if (error == cudaSuccess) error = cudaGraphInstantiate(&rods->replay, both, 0);
  for (cudaGraph_t graph : {both, one[0], one[1]}) {
    if (graph != nullptr) cudaGraphDestroy(graph);
  }
  return error;
}

cudaError_t run_steps(const Rods& rods, cudaStream_t stream) {
  return cudaGraphLaunch(rods.replay, stream);
}

cudaError_t release_steps(Rods* rods) {
  const cudaError_t error =
      rods->replay == nullptr ? cudaSuccess : cudaGraphExecDestroy(rods->replay);
  rods->replay = nullptr;
  return error;
}
