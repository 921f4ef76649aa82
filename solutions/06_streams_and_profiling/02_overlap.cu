// 06/02 Overlap: while one piece is computed, the next comes in and the one before goes out.
//   h_x, h_y   n floats in pinned host memory, n >= 1;  d_x, d_y  n floats in device memory
//   streams    `count` of them, 1 or more; none waits for the default stream
//   launch_geometric_series() is given (02_overlap.h).
//   A card copies in both directions and computes at the same time, if the pieces of work are in
//   different streams. Within one stream everything is done in order.
//   TODOs      2
#include <algorithm>

#include "02_overlap.h"

// Floats per piece, for n floats in all.
static int piece_length(int n) {
  //~ // TODO(2): Pieces that are neither too few nor too many, for large n and for small.
  //~ return n;
  //~begin 2
  // Every copy costs some microseconds besides its bytes, so a piece is at least 512 KiB; the first
  // copy in and the last copy out have nothing beside them, so it is at most 1/32.
  constexpr int kMostPieces = 32, kLeastLength = 1 << 17;
  return std::max((n + kMostPieces - 1) / kMostPieces, kLeastLength);
  //~end
}

//~begin 1
// Puts all work for floats [first, first + length) into `stream`.
static cudaError_t enqueue_piece(const float* h_x, float* h_y, float* d_x, float* d_y, int first,
                                 int length, int terms, cudaStream_t stream) {
  const size_t bytes = length * sizeof(float);
  cudaError_t error =
      cudaMemcpyAsync(d_x + first, h_x + first, bytes, cudaMemcpyHostToDevice, stream);
  if (error != cudaSuccess) return error;
  error = launch_geometric_series(d_x + first, d_y + first, length, terms, stream);
  if (error != cudaSuccess) return error;
  return cudaMemcpyAsync(h_y + first, d_y + first, bytes, cudaMemcpyDeviceToHost, stream);
}

//~end
cudaError_t series_overlapped(const float* h_x, float* h_y, float* d_x, float* d_y, int n,
                              int terms, const cudaStream_t* streams, int count) {
  const int length = piece_length(n);
  cudaError_t error = cudaSuccess;
  //~ // TODO(1): Every piece is copied in, computed and copied out, in this order. The order of
  //~ // different pieces is left open, so that they can overlap. The host waits for none of them.
  //~ (void)h_x, (void)h_y, (void)d_x, (void)d_y, (void)terms, (void)streams, (void)count;
  //~ (void)length;
  //~begin 1
  for (int first = 0, piece = 0; first < n && error == cudaSuccess; first += length, ++piece) {
    error = enqueue_piece(h_x, h_y, d_x, d_y, first, std::min(length, n - first), terms,
                          streams[piece % count]);
  }
  //~end
  return error;
}
