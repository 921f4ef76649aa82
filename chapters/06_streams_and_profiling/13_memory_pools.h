// 06/13 Memory pools: what the test calls, and what is given.
#ifndef CHAPTERS_06_STREAMS_AND_PROFILING_13_MEMORY_POOLS_H_
#define CHAPTERS_06_STREAMS_AND_PROFILING_13_MEMORY_POOLS_H_

#include <cuda_runtime.h>

#include <cstddef>

// Given, for n elements in device memory; each returns the error of its launch.
//   blur      out[i] = (in[i - 1] + 2 in[i] + in[i + 1]) / 4; past the ends the end itself counts
//   contrast  out[i] = |x[i] - soft[i]|
//   add       y[i] = a[i] + b[i]
cudaError_t launch_blur(const float* d_in, float* d_out, int n, cudaStream_t stream);
cudaError_t launch_contrast(const float* d_x, const float* d_soft, float* d_out, int n,
                            cudaStream_t stream);
cudaError_t launch_add(const float* d_a, const float* d_b, float* d_y, int n, cudaStream_t stream);
// Given: what is put into `later` from now on begins when all that is in `earlier` now has ended.
cudaError_t order_streams(cudaStream_t earlier, cudaStream_t later);

// Where the calls of a program take their scratch memory from.
struct Workshop {
  cudaMemPool_t pool = nullptr;
};

// Makes a pool of the workshop's own on the current device. When the device is idle, the pool keeps
// up to `keep` bytes for the next call, and gives back what is beyond. After an error there is no
// pool.
cudaError_t open_workshop(Workshop* workshop, size_t keep);
// Gives everything back, the pool included; harmless without one. Nothing is in use any more.
cudaError_t close_workshop(Workshop* workshop);

// y = blur(blur(x)) + contrast(x, blur(x)). Puts work into both streams, where contrast and the
// second blur run side by side, and returns without waiting for any of it. All scratch memory is
// the pool's, and goes back to it in the order of the streams, also after an error; returns the
// first one.
//   d_x     n floats in device memory, n from 1 to 2^28, made by work that is in `stream` already
//   d_y     n floats in device memory; what the caller puts into `stream` afterwards finds y there
//   stream  the caller's
//   side    a helper; neither stream waits for the default stream
cudaError_t sharpen(const Workshop& workshop, const float* d_x, float* d_y, int n,
                    cudaStream_t stream, cudaStream_t side);

// Given, to be compared with: the same in one stream, with cudaMalloc and cudaFree in every call.
cudaError_t sharpen_slowly(const float* d_x, float* d_y, int n, cudaStream_t stream);

#endif  // CHAPTERS_06_STREAMS_AND_PROFILING_13_MEMORY_POOLS_H_
