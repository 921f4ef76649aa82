// 06/06 CUDA graph: a hundred short kernels, handed over once and replayed with one call.
//   rods       two rods of n points each, one behind the other in d_a; d_b is scratch
//              launch_diffusion() and order_streams() are given (06_cuda_graph.h)
//   One time step is shorter than the launch that starts it, so the host decides the speed. A graph
//   is the list of launches with their order, checked and prepared in advance. What no order holds
//   back runs side by side: the rods do not touch.
//   TODOs      3
#include "06_cuda_graph.h"

cudaError_t build_steps(Rods* rods, cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  cudaError_t error = cudaSuccess;
  // TODO(1): `graph` holds all steps of both rods, with no order between the rods, and nothing
  // has run. The launches below are right, but they run, and one after the other.
  error = launch_all_steps(*rods, stream);
  // TODO(2): rods->replay can be launched, and no graph is left behind.
  if (graph != nullptr) error = cudaErrorNotSupported;
  return error;
}

cudaError_t run_steps(const Rods& rods, cudaStream_t stream) {
  // TODO(3): One call starts all steps; and release_steps() below leaves nothing behind.
  return launch_all_steps(rods, stream);
}

cudaError_t release_steps(Rods* rods) {
  rods->replay = nullptr;
  return cudaSuccess;
}
