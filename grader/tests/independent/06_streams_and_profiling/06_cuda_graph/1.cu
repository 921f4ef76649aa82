// Capture of two streams; side stream made for the recording
#include "06_cuda_graph.h"
cudaError_t build_steps(Rods* rods, cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  cudaStream_t side = nullptr;
  cudaError_t e = cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
  if (e != cudaSuccess) return e;
  e = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  if (e == cudaSuccess) {
    e = order_streams(stream, side);
    for (int r = 0; r < kRods && e == cudaSuccess; ++r) {
      float *a = rods->d_a + (size_t)r * rods->n, *b = rods->d_b + (size_t)r * rods->n;
      for (int s = 0; s < kSteps && e == cudaSuccess; ++s) e = launch_diffusion(s % 2 ? b : a, s % 2 ? a : b, rods->n, r ? side : stream);
    }
    if (e == cudaSuccess) e = order_streams(side, stream);
    const cudaError_t end = cudaStreamEndCapture(stream, &graph);
    if (e == cudaSuccess) e = end;
  }
  if (e == cudaSuccess) e = cudaGraphInstantiate(&rods->replay, graph, 0);
  if (graph) cudaGraphDestroy(graph);
  cudaStreamDestroy(side);
  return e;
}
cudaError_t run_steps(const Rods& rods, cudaStream_t stream) { return cudaGraphLaunch(rods.replay, stream); }
cudaError_t release_steps(Rods* rods) {
  if (!rods->replay) return cudaSuccess;
  const cudaError_t e = cudaGraphExecDestroy(rods->replay);
  rods->replay = nullptr;
  return e;
}
