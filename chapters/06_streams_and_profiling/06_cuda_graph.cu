// 06/06 CUDA graph: a hundred short kernels, handed over once and replayed with one call.
//   rod        n temperatures in d_a, d_b as scratch; launch_diffusion(from, to, ...) is given
//   One time step is shorter than the launch that starts it, so the host decides the speed. A graph
//   is the list of launches with their order, checked and prepared in advance.
//   TODOs      3
#include "06_cuda_graph.h"

// Puts kSteps time steps into `stream`, from d_a to d_b and back, so that the result is in d_a.
static cudaError_t enqueue_steps(const Rod& rod, cudaStream_t stream) {
  static_assert(kSteps % 2 == 0, "the last step must write d_a");
  cudaError_t error = cudaSuccess;
  for (int step = 0; step < kSteps && error == cudaSuccess; step += 2) {
    error = launch_diffusion(rod.d_a, rod.d_b, rod.n, stream);
    if (error == cudaSuccess) error = launch_diffusion(rod.d_b, rod.d_a, rod.n, stream);
  }
  return error;
}

cudaError_t build_steps(Rod* rod, cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  // TODO(1): Let `stream` record the steps instead of running them (about 5 lines).
  cudaError_t error = enqueue_steps(*rod, stream);
  // TODO(2): Make rod->replay from the graph, then destroy the graph (2 lines).
  if (graph != nullptr) error = cudaErrorNotSupported;
  return error;
}

cudaError_t run_steps(const Rod& rod, cudaStream_t stream) {
  // TODO(3): One call in place of the launches (1 line).
  return enqueue_steps(rod, stream);
}

cudaError_t release_steps(Rod* rod) {
  const cudaError_t error =
      rod->replay == nullptr ? cudaSuccess : cudaGraphExecDestroy(rod->replay);
  rod->replay = nullptr;
  return error;
}
