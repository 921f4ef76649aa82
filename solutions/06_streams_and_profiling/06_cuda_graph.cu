// 06/06 CUDA graph: a hundred short kernels, handed over once and replayed with one call.
//   rods       two rods of n points each, one behind the other in d_a; d_b is scratch
//              launch_diffusion() and order_streams() are given (06_cuda_graph.h)
//   One time step is shorter than the launch that starts it, so the host decides the speed. A graph
//   is the list of launches with their order, checked and prepared in advance. What no order holds
//   back runs side by side: the rods do not touch.
//   TODOs      3
#include "06_cuda_graph.h"

//~begin 1
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

//~end
cudaError_t build_steps(Rods* rods, cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  cudaError_t error = cudaSuccess;
  //~ // TODO(1): `graph` holds all steps of both rods, with no order between the rods, and nothing
  //~ // has run. The launches below are right, but they run, and one after the other.
  //~ error = launch_all_steps(*rods, stream);
  //~begin 1
  cudaStream_t side = nullptr;
  error = cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
  if (error != cudaSuccess) return error;
  // Thread-local: what other threads of the program do meanwhile cannot spoil the capture.
  error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  if (error == cudaSuccess) {
    error = enqueue_both(*rods, stream, side);
    // Ended in any case: a stream that is left in capture mode can do nothing else.
    const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
    if (error == cudaSuccess) error = ended;
  }
  cudaStreamDestroy(side);
  //~end
  //~ // TODO(2): rods->replay can be launched, and no graph is left behind.
  //~ if (graph != nullptr) error = cudaErrorNotSupported;
  //~begin 2
  if (error == cudaSuccess) error = cudaGraphInstantiate(&rods->replay, graph, 0);
  if (graph != nullptr) cudaGraphDestroy(graph);  // the executable graph is complete without it
  //~end
  return error;
}

cudaError_t run_steps(const Rods& rods, cudaStream_t stream) {
  //~ // TODO(3): One call starts all steps; and release_steps() below leaves nothing behind.
  //~ return launch_all_steps(rods, stream);
  //~begin 3
  return cudaGraphLaunch(rods.replay, stream);
  //~end
}

cudaError_t release_steps(Rods* rods) {
  //~ rods->replay = nullptr;
  //~ return cudaSuccess;
  //~begin 3
  const cudaError_t error =
      rods->replay == nullptr ? cudaSuccess : cudaGraphExecDestroy(rods->replay);
  rods->replay = nullptr;
  return error;
  //~end
}
