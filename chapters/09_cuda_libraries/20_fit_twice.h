// 09/20 Fit twice: what the test calls.
#ifndef CHAPTERS_09_CUDA_LIBRARIES_20_FIT_TWICE_H_
#define CHAPTERS_09_CUDA_LIBRARIES_20_FIT_TWICE_H_

#include <cublas_v2.h>
#include <cusolverDn.h>

// The x that fits most equations, where some of them are wrong. First x minimises |a x - b| over
// all m rows. Then the `keep` rows whose |row x - b| are smallest are kept, and x minimises the
// length over these alone.
//   d_a     m x n floats, row-major;  d_b  m floats: the equations
//   d_x     n floats: the second x, right within 2^-13 of its largest element
//   d_kept  keep ints: the numbers of the kept rows, in ascending order
//   n from 1 to 32, keep from n to m, m at most 2^20. The condition of the rows that are fitted is
//   at most 16, and between the rows that are kept and those that are not the magnitudes leave a
//   gap of 2^-10 of the largest |b|. All arrays are in device memory; a and b stay as they are.
// Both handles work in `stream`, in host pointer mode, and are left so. Everything happens in
// `stream`, and nobody waits. Returns whether every call was a success; no memory is left behind.
bool fit_twice(cublasHandle_t blas, cusolverDnHandle_t solver, const float* d_a, const float* d_b,
               float* d_x, int* d_kept, int m, int n, int keep, cudaStream_t stream);

#endif  // CHAPTERS_09_CUDA_LIBRARIES_20_FIT_TWICE_H_
