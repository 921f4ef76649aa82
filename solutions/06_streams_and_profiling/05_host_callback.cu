// 06/05 Host callback: CPU work as an item of a stream, between a copy and whatever comes next.
//   d_x, h_x   n floats in device and in pinned host memory; pieces of `length`, the last may be
//              shorter
//   arrivals   one per piece, the caller's, alive until the stream has ended
//   A host function runs on a thread of the runtime, while its stream stands still. It must be
//   short and must not call CUDA.
//   TODOs      2
#include <algorithm>

#include "05_host_callback.h"

// Runs once a piece is in h_x; `data` is the Arrival of this piece.
static void CUDART_CB piece_arrived(void* data) {
  //~ // TODO(1): The elements of the piece are in the sum of its report, and the piece is counted.
  //~ // Whoever sees the count may read the sum.
  //~ (void)data;
  //~begin 1
  const Arrival& arrival = *static_cast<const Arrival*>(data);
  for (int i = 0; i < arrival.length; ++i) {
    arrival.report->sum += arrival.h_x[i];
  }
  // Last: who sees the count may read the sum.
  ++arrival.report->pieces;
  //~end
}

cudaError_t enqueue_download(const float* d_x, float* h_x, int n, int length, Arrival* arrivals,
                             Report* report, cudaStream_t stream) {
  //~ // TODO(2): Every piece is copied to the host, and piece_arrived runs for it, with an Arrival
  //~ // that is still its own by then, before the next piece arrives. Nobody waits here.
  //~ (void)d_x, (void)h_x, (void)n, (void)length, (void)arrivals, (void)report, (void)stream;
  //~ (void)piece_arrived;
  //~ return cudaSuccess;
  //~begin 2
  cudaError_t error = cudaSuccess;
  for (int first = 0, piece = 0; first < n && error == cudaSuccess; first += length, ++piece) {
    const int here = std::min(length, n - first);
    error = cudaMemcpyAsync(h_x + first, d_x + first, here * sizeof(float), cudaMemcpyDeviceToHost,
                            stream);
    // The function runs when this loop is long over: its data must not be a local variable.
    arrivals[piece] = {h_x + first, here, report};
    if (error == cudaSuccess) error = cudaLaunchHostFunc(stream, piece_arrived, &arrivals[piece]);
  }
  return error;
  //~end
}
