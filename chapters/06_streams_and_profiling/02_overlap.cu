// 06/02 Overlap: while one piece is computed, the next comes in and the one before goes out.
//   h_x, h_y   n floats in pinned host memory, n >= 1;  d_x, d_y  n floats in device memory
//   streams    `count` of them, 1 or more; none waits for the default stream
//   launch_geometric_series() is given (02_overlap.h).
//   A card copies in both directions and computes at the same time, if the pieces of work are in
//   different streams. Within one stream everything is done in order.
//   TODOs      3
#include <algorithm>

#include "02_overlap.h"

// Puts all work for floats [first, first + length) into `stream`.
static cudaError_t enqueue_piece(const float* h_x, float* h_y, float* d_x, float* d_y, int first,
                                 int length, int terms, cudaStream_t stream) {
  const size_t bytes = length * sizeof(float);
  // TODO(1): Copy the piece in, launch, copy it out, all of it in `stream` (about 6 lines).
  (void)h_x, (void)h_y, (void)d_x, (void)d_y, (void)first, (void)terms, (void)stream;
  (void)bytes;
  return cudaSuccess;
}

// Floats per piece. Every copy costs some microseconds besides its bytes, so a piece is at least
// 512 KiB; the first copy in and the last copy out have nothing beside them, so it is at most 1/32.
static int piece_length(int n) {
  return n;  // TODO(2): n / 32 rounded up, but at least 131072 floats (about 2 lines).
}

cudaError_t series_overlapped(const float* h_x, float* h_y, float* d_x, float* d_y, int n,
                              int terms, const cudaStream_t* streams, int count) {
  const int length = piece_length(n);
  cudaError_t error = cudaSuccess;
  // TODO(3): Give the pieces to the streams in turn, the last one maybe shorter (about 4 lines).
  // Nobody waits here: a wait for one stream would hold up the pieces of the others.
  (void)count;
  error = enqueue_piece(h_x, h_y, d_x, d_y, 0, std::min(length, n), terms, streams[0]);
  return error;
}
