// 06/11 Host threads: what the test calls, and what is given.
#ifndef CHAPTERS_06_STREAMS_AND_PROFILING_11_HOST_THREADS_H_
#define CHAPTERS_06_STREAMS_AND_PROFILING_11_HOST_THREADS_H_

#include <cuda_runtime.h>

constexpr int kThreads = 4;   // of the CPU
constexpr int kMirror = 128;  // threads per block of mirror_sums

// y = x / 2, a quarter by each CPU thread, on the device that is current. Returns when h_y is
// complete, with the first error of any thread.
//   h_x, h_y  n floats each in pinned host memory, n from 0 to 2^30
//   d_x       n floats in device memory
//   block     threads per block, chosen by the caller: with more than 1024 every launch is refused,
//             and its error is returned if n > 0
cudaError_t halve_in_threads(const float* h_x, float* h_y, float* d_x, int n, int block);

enum class DefaultStream {
  kLegacy,     // cudaStreamLegacy, what 0 means without options
  kPerThread,  // cudaStreamPerThread, what 0 means with --default-stream per-thread
};
// Your prediction: can kernels of two CPU threads run side by side in this default stream?
bool runs_side_by_side(DefaultStream kind);

// sums[i] = x[i] + x[j], where j is as far from the end of the block as i is from its beginning.
// Returns when all sums are there, with the first error: that of the launch, if it is refused.
//   d_x, d_sums  blocks * kMirror floats each in device memory
//   blocks       at least 1; a launch of fewer is refused
cudaError_t launch_mirror_sums(const float* d_x, float* d_sums, int blocks);

// Given: a kernel of one block that takes some milliseconds on a GPU.
void launch_long(float* d_x, int rounds, cudaStream_t stream);

#endif  // CHAPTERS_06_STREAMS_AND_PROFILING_11_HOST_THREADS_H_
