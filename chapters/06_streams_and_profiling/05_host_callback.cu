// 06/05 Host callback: CPU work as an item of a stream, between a copy and whatever comes next.
//   d_x, h_x   n floats in device and in pinned host memory; pieces of `length`, the last may be
//              shorter
//   arrivals   one per piece, the caller's, alive until the stream has ended
//   A host function runs on a thread of the runtime, while its stream stands still. It must be
//   short and must not call CUDA.
//   TODOs      2
#include <algorithm>

#include "05_host_callback.h"

// Runs once a piece is in h_x: adds its elements to the sum and counts the piece.
static void CUDART_CB piece_arrived(void* data) {
  // TODO(1): `data` is the Arrival of this piece. Add its elements to arrival.report->sum, then
  // count it in arrival.report->pieces (about 5 lines).
  (void)data;
}

cudaError_t enqueue_download(const float* d_x, float* h_x, int n, int length, Arrival* arrivals,
                             Report* report, cudaStream_t stream) {
  cudaError_t error = cudaSuccess;
  for (int first = 0, piece = 0; first < n && error == cudaSuccess; first += length, ++piece) {
    const int here = std::min(length, n - first);
    error = cudaMemcpyAsync(h_x + first, d_x + first, here * sizeof(float), cudaMemcpyDeviceToHost,
                            stream);
    // TODO(2): Fill in the Arrival of this piece and let piece_arrived run behind the copy, with
    // its address (about 4 lines).
    (void)arrivals, (void)report, (void)piece_arrived;
  }
  return error;
}
