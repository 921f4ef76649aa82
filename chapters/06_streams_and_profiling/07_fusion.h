// 06/07 Fusion: what the test calls, and what is given.
#ifndef CHAPTERS_06_STREAMS_AND_PROFILING_07_FUSION_H_
#define CHAPTERS_06_STREAMS_AND_PROFILING_07_FUSION_H_

#include <cuda_runtime.h>

// Your prediction: bytes loaded and stored per element, by one kernel or by the three.
int predicted_bytes(bool fused);

// y = 1 / (1 + e^-(a + b c)), in one launch, to a few units of its last digit or 1e-7, whichever is
// more.
//   d_a, d_b, d_c, d_y  n floats each in device memory, n from 1 to 2^30, aligned to 16 bytes
void launch_sigmoid_fused(const float* d_a, const float* d_b, const float* d_c, float* d_y, int n);

// Given, to be compared with: the same in three launches, y = b c, y = a + y, y = 1 / (1 + e^-y),
// each of them with 16-byte accesses. n is a multiple of 4.
void launch_sigmoid_three(const float* d_a, const float* d_b, const float* d_c, float* d_y, int n);

#endif  // CHAPTERS_06_STREAMS_AND_PROFILING_07_FUSION_H_
