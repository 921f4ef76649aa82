// 06/09 NVTX ranges: what the test calls.
#ifndef CHAPTERS_06_STREAMS_AND_PROFILING_09_NVTX_RANGES_H_
#define CHAPTERS_06_STREAMS_AND_PROFILING_09_NVTX_RANGES_H_

#include <cuda_runtime.h>

// Given: x = 3 x for n elements in device memory, in `stream`.
void launch_triple(float* d_x, int n, cudaStream_t stream);

// y = 3 x, in batches that share one piece of device memory, with a range around every phase.
//   h_x, h_y  n floats each in pinned host memory, n from 0 to 2^30
//   d_x       `batch` floats in device memory
//   batch     elements per batch; less than 1 is cudaErrorInvalidValue
// Returns when h_y is complete, or with the first error.
cudaError_t triple_in_batches(const float* h_x, float* h_y, float* d_x, int n, int batch,
                              cudaStream_t stream);

#endif  // CHAPTERS_06_STREAMS_AND_PROFILING_09_NVTX_RANGES_H_
