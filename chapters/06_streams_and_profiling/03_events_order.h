// 06/03 Events order: what the test calls.
#ifndef CHAPTERS_06_STREAMS_AND_PROFILING_03_EVENTS_ORDER_H_
#define CHAPTERS_06_STREAMS_AND_PROFILING_03_EVENTS_ORDER_H_

#include <cuda_runtime.h>

// Given: out = 1 + f x + (f x)^2 + ..., `terms` terms, for n elements in device memory.
cudaError_t launch_power_series(const float* d_x, float* d_out, int n, float f, int terms,
                                cudaStream_t stream);
// Given: y = (a + b) / 2. Both return the error of the launch.
cudaError_t launch_mean(const float* d_a, const float* d_b, float* d_y, int n, cudaStream_t stream);

// y = 1 + x^2 + x^4 + ..., as the mean of two series of `terms` terms. Puts work into both streams
// and returns without waiting for any of it. Returns the first error, as the call gave it.
//   d_x                 n floats in device memory, n >= 1, made by work that is in `left` already
//   d_a, d_b, d_y       n floats each in device memory, which work in `left` may still be using
//   left                the caller's stream: what it puts there afterwards finds y complete
//   right               a helper; neither stream waits for the default stream
cudaError_t enqueue_even_powers(const float* d_x, float* d_a, float* d_b, float* d_y, int n,
                                int terms, cudaStream_t left, cudaStream_t right);

#endif  // CHAPTERS_06_STREAMS_AND_PROFILING_03_EVENTS_ORDER_H_
