// 06/04 Stream race: what the test calls.
#ifndef CHAPTERS_06_STREAMS_AND_PROFILING_04_STREAM_RACE_H_
#define CHAPTERS_06_STREAMS_AND_PROFILING_04_STREAM_RACE_H_

#include <cuda_runtime.h>

// Memory for one piece on its way, and the marks that say how far it is.
struct Lane {
  float* h_x;            // `length` floats in pinned host memory
  float* d_x;            // `length` floats in device memory
  cudaEvent_t copied;    // the piece has left h_x and is in d_x
  cudaEvent_t computed;  // the kernel is done with d_x
};

// Given: y = x |x| for n elements in device memory, in `stream`. Returns the last error, be it of
// the launch or of a call before it.
cudaError_t launch_signed_square(const float* d_x, float* d_y, int n, cudaStream_t stream);

// y = x |x|. Returns when everything is queued; y is complete once `compute` has ended.
//   x              n floats in pageable host memory, n from 1 to 2^30
//   d_y            n floats in device memory
//   lanes, length  two lanes for pieces of up to `length` floats; idle, events never recorded
//   copy, compute  two streams that do not wait for the default stream
// Returns the first error.
cudaError_t signed_squares_streamed(const float* x, float* d_y, int n, const Lane lanes[2],
                                    int length, cudaStream_t copy, cudaStream_t compute);

#endif  // CHAPTERS_06_STREAMS_AND_PROFILING_04_STREAM_RACE_H_
