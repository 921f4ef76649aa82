// 06/10 Profile matmul: what the test calls, and what is given.
#ifndef CHAPTERS_06_STREAMS_AND_PROFILING_10_PROFILE_MATMUL_H_
#define CHAPTERS_06_STREAMS_AND_PROFILING_10_PROFILE_MATMUL_H_

#include <cuda_runtime.h>

// Your answer: the line of 10_profile_matmul_baseline.cu that moves the most sectors.
int hot_line();

// c = a b^T. The shapes are as in a linear layer: b has a row for each output.
//   d_a  m x k,  d_b  n x k,  d_c  m x n, row-major in device memory; m, n, k from 1 to
//   2^20, no matrix of 2^31 elements
void launch_matmul_nt(const float* d_a, const float* d_b, float* d_c, int m, int n, int k);

// Given: the same, slow.
void launch_matmul_nt_slow(const float* d_a, const float* d_b, float* d_c, int m, int n, int k);

#endif  // CHAPTERS_06_STREAMS_AND_PROFILING_10_PROFILE_MATMUL_H_
