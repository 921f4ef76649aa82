// 02/02 Host pipeline: what the test calls.
#ifndef CHAPTERS_02_VECTOR_ADD_02_HOST_PIPELINE_H_
#define CHAPTERS_02_VECTOR_ADD_02_HOST_PIPELINE_H_

#include <cuda_runtime.h>

// Computes squares and fourth powers of h_x on the device with two launches of one kernel.
//   h_x        n floats in host memory, n from 1 to 2^30, unchanged afterwards
//   h_squares  n floats in host memory, receives x * x
//   h_fourths  n floats in host memory, receives (x * x) * (x * x)
//   block      threads per block; with more than 1024 the launch is refused
// Returns the first error of an allocation, a copy, a launch or a wait (what a cudaFree returns
// need not be looked at), or cudaSuccess once both results are in host memory. Leaves no device
// memory allocated, whatever it returns.
cudaError_t squares_and_fourths(const float* h_x, float* h_squares, float* h_fourths, int n,
                                int block);

#endif  // CHAPTERS_02_VECTOR_ADD_02_HOST_PIPELINE_H_
