// 06/05 Host callback: what the test calls.
#ifndef CHAPTERS_06_STREAMS_AND_PROFILING_05_HOST_CALLBACK_H_
#define CHAPTERS_06_STREAMS_AND_PROFILING_05_HOST_CALLBACK_H_

#include <cuda_runtime.h>

#include <atomic>

// What has arrived so far, in all downloads of a stream that were given this report. Other threads
// may look at it at any time.
struct Report {
  double sum = 0;              // of all elements that have arrived, added as doubles
  std::atomic<int> pieces{0};  // how many pieces are in the sum
};

// What the host function of one piece must know.
struct Arrival {
  const float* h_x;  // the first element of the piece
  int length;        // its elements
  Report* report;
};

// Copies n floats to the host in pieces, in `stream`, and adds up every piece on the CPU as soon as
// it has arrived. Returns when everything is queued; report and h_x are complete once the stream
// has ended. Other downloads may be under way at the same time, each with arrivals of its own. Or
// returns the first error.
//   h_x       n floats in pinned host memory, n from 1 to 2^30
//   length    elements per piece, >= 1
//   arrivals  at least n / length, rounded up; the caller frees them when the stream has ended
cudaError_t enqueue_download(const float* d_x, float* h_x, int n, int length, Arrival* arrivals,
                             Report* report, cudaStream_t stream);

#endif  // CHAPTERS_06_STREAMS_AND_PROFILING_05_HOST_CALLBACK_H_
