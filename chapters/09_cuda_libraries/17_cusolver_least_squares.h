// 09/17 cuSOLVER, least squares: what the test calls.
#ifndef CHAPTERS_09_CUDA_LIBRARIES_17_CUSOLVER_LEAST_SQUARES_H_
#define CHAPTERS_09_CUDA_LIBRARIES_17_CUSOLVER_LEAST_SQUARES_H_

#include <cublas_v2.h>
#include <cusolverDn.h>

// What the factorisation needs besides the matrix, in device memory.
struct Space {
  float* work = nullptr;  // `floats` floats
  int floats = 0;
  float* tau = nullptr;  // n floats
  int* info = nullptr;   // one int
};

// Functions with a status return the first that is no success.

// Column j of a gets the j-th powers of t. a: m x n floats, column-major, columns m floats apart;
// t: m floats. All in device memory; m and n are at least 1. Does not wait.
void launch_powers(const float* d_t, float* d_a, int m, int n, cudaStream_t stream);

// *floats: as many as factorise needs in Space::work, for its larger step. a: m x n, column-major,
// columns m floats apart, m >= n. Nothing is read from the matrices.
cusolverStatus_t work_size(cusolverDnHandle_t solver, int m, int n, float* d_a, float* d_tau,
                           float* d_b, int* floats);

// a = Q R: R gets into the upper triangle of a, and b becomes Q^T b. b: m floats. In the stream of
// the handle; does not wait.
cusolverStatus_t factorise(cusolverDnHandle_t solver, int m, int n, float* d_a, float* d_b,
                           const Space& space);

// The first n of b become x = R^-1 (Q^T b), which makes |a x - b| least; *residual is that length.
// d_a and d_b as factorise left them; m > n. Waits.
cublasStatus_t solve(cublasHandle_t blas, int m, int n, const float* d_a, float* d_b,
                     float* residual);

#endif  // CHAPTERS_09_CUDA_LIBRARIES_17_CUSOLVER_LEAST_SQUARES_H_
