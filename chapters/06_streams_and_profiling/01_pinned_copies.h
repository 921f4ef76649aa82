// 06/01 Pinned copies: what the test calls.
#ifndef CHAPTERS_06_STREAMS_AND_PROFILING_01_PINNED_COPIES_H_
#define CHAPTERS_06_STREAMS_AND_PROFILING_01_PINNED_COPIES_H_

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdlib>

// In all of these, n is at least 1. An error is returned as the first call that failed gave it.

// Host memory for n floats that copies from and to as fast as the link allows; nullptr if there is
// none. Released with free_for_copies().
float* allocate_for_copies(size_t n);
void free_for_copies(float* h_x);

// Puts the copy of n floats from h_x to d_x into `stream` and returns before it is done. h_x comes
// from allocate_for_copies().
cudaError_t start_upload(float* d_x, const float* h_x, int n, cudaStream_t stream);

// Copies n floats from memory that somebody else allocated, pinned for the duration of the call and
// pageable again afterwards, also when the copy fails. Returns once the copy is done. If the memory
// cannot be pinned, returns the error of the attempt and changes nothing.
cudaError_t upload_existing(float* d_x, float* h_x, int n, cudaStream_t stream);

#endif  // CHAPTERS_06_STREAMS_AND_PROFILING_01_PINNED_COPIES_H_
