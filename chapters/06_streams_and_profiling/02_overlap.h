// 06/02 Overlap: what the test calls, and what is given.
#ifndef CHAPTERS_06_STREAMS_AND_PROFILING_02_OVERLAP_H_
#define CHAPTERS_06_STREAMS_AND_PROFILING_02_OVERLAP_H_

#include <cuda_runtime.h>

// Given: y = 1 + x + x^2 + ..., `terms` terms, for n elements in device memory. Returns the error
// of the launch.
cudaError_t launch_geometric_series(const float* d_x, float* d_y, int n, int terms,
                                    cudaStream_t stream);

// Given, to be compared with: copy in, compute, copy out, in one piece and one stream. Does not
// wait either.
cudaError_t series_serial(const float* h_x, float* h_y, float* d_x, float* d_y, int n, int terms,
                          cudaStream_t stream);

// The same with copies and kernels side by side. Returns the first error, or cudaSuccess once all
// of it is queued; h_y is complete when all streams have ended.
//   h_x, h_y   n floats each in pinned host memory, n from 1 to 2^30
//   d_x, d_y   n floats each in device memory, contents not needed before or after
//   streams    `count` >= 1 streams, idle, none of which waits for the default stream
cudaError_t series_overlapped(const float* h_x, float* h_y, float* d_x, float* d_y, int n,
                              int terms, const cudaStream_t* streams, int count);

#endif  // CHAPTERS_06_STREAMS_AND_PROFILING_02_OVERLAP_H_
