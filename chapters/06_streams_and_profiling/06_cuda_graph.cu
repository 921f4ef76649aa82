// 06/06 CUDA graph: a hundred short kernels, handed over once and replayed with one call.
//   rods       two rods of n points each, one behind the other in d_a; d_b is scratch
//              launch_diffusion() and order_streams() are given (06_cuda_graph.h)
//   One time step is shorter than the launch that starts it, so the host decides the speed. A graph
//   is the list of launches with their order, checked and prepared in advance. What no order holds
//   back runs side by side: the rods do not touch.
//   TODOs      3
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

// Rod 0 in `stream`, rod 1 in `side`; what follows in `stream` finds both complete.
static cudaError_t enqueue_both(const Rods& rods, cudaStream_t stream, cudaStream_t side) {
  cudaError_t error = order_streams(stream, side);
  if (error == cudaSuccess) error = enqueue_rod(rods, 0, stream);
  if (error == cudaSuccess) error = enqueue_rod(rods, 1, side);
  if (error == cudaSuccess) error = order_streams(side, stream);
  return error;
}

cudaError_t build_steps(Rods* rods, cudaStream_t stream) {
  cudaStream_t side = nullptr;
  cudaError_t error = cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
  if (error != cudaSuccess) return error;
  cudaGraph_t graph = nullptr;
  // TODO(1): Let `stream` record the steps instead of running them; `side` joins the recording
  // where it waits for `stream` (about 5 lines).
  error = enqueue_both(*rods, stream, side);
  // TODO(2): Make rods->replay from the graph, then destroy the graph (2 lines).
  if (graph != nullptr) error = cudaErrorNotSupported;
  cudaStreamDestroy(side);
  return error;
}

cudaError_t run_steps(const Rods& rods, cudaStream_t stream) {
  // TODO(3): One call in place of the launches (1 line).
  cudaError_t error = enqueue_rod(rods, 0, stream);
  if (error == cudaSuccess) error = enqueue_rod(rods, 1, stream);
  return error;
}

cudaError_t release_steps(Rods* rods) {
  const cudaError_t error =
      rods->replay == nullptr ? cudaSuccess : cudaGraphExecDestroy(rods->replay);
  rods->replay = nullptr;
  return error;
}
