// 09/20 Fit twice, the capstone: least squares, and once more without the rows that fit worst.
//   a     m x n floats, row-major,  b  m floats: m equations with n unknowns, in device memory
//   x     n floats: over the kept rows, |a x - b| is as small as it can be
//   kept  keep ints: the rows that came closest to an x for all rows, in ascending order
//   Budget: 40 bytes loaded for each element of a, 24 stored; nobody waits; no memory is left.
//
//   Nothing is given here: which libraries you call, kernels, launches and work space are yours.
#include "20_fit_twice.h"


bool fit_twice(cublasHandle_t blas, cusolverDnHandle_t solver, const float* d_a, const float* d_b,
               float* d_x, int* d_kept, int m, int n, int keep, cudaStream_t stream) {
  static_cast<void>(blas), static_cast<void>(solver), static_cast<void>(d_a);
  static_cast<void>(d_b), static_cast<void>(d_x), static_cast<void>(d_kept);
  static_cast<void>(m), static_cast<void>(n), static_cast<void>(keep);
  return stream == nullptr;
}
