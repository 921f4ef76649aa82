// 09/17 cuSOLVER: the x for which a x comes closest to b, when there are more equations than
// unknowns.
//   a  m x n, column-major, m >= n,  b  m,  x  n: floats in device memory
//   a = Q R: Q turns without stretching, so |a x - b| = |R x - Q^T b|. R is a triangle over zeros:
//   the first n equations can be met exactly, and what stands behind them cannot be helped.
//   The short way, a^T a x = a^T b, squares the condition of a and loses twice as many digits.
//   TODOs  3
#include <algorithm>

#include "17_cusolver_least_squares.h"

__global__ void powers(const float* t, float* a, int m, int n) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < m) {
    float power = 1.0f;
    for (int col = 0; col < n; ++col) {  // neighbouring threads write neighbours of a column
      a[row + static_cast<size_t>(col) * m] = power;
      power *= t[row];
    }
  }
}

void launch_powers(const float* d_t, float* d_a, int m, int n, cudaStream_t stream) {
  constexpr int kBlock = 128;  // threads
  powers<<<(m + kBlock - 1) / kBlock, kBlock, 0, stream>>>(d_t, d_a, m, n);
}

cusolverStatus_t work_size(cusolverDnHandle_t solver, int m, int n, float* d_a, float* d_tau,
                           float* d_b, int* floats) {
  //~ // TODO(1): *floats: room for the larger of two steps, the factorisation (geqrf) and the
  //~ // product of b with Q^T (ormqr). Both can be asked.
  //~ static_cast<void>(solver), static_cast<void>(m + n), static_cast<void>(d_a);
  //~ static_cast<void>(d_tau), static_cast<void>(d_b);
  //~ *floats = 0;
  //~ return solver == nullptr ? CUSOLVER_STATUS_NOT_INITIALIZED : CUSOLVER_STATUS_SUCCESS;
  //~begin 1
  int for_factors = 0, for_product = 0;
  cusolverStatus_t status = cusolverDnSgeqrf_bufferSize(solver, m, n, d_a, m, &for_factors);
  if (status != CUSOLVER_STATUS_SUCCESS) return status;
  status = cusolverDnSormqr_bufferSize(solver, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, m, 1, n, d_a, m,
                                       d_tau, d_b, m, &for_product);
  *floats = std::max(for_factors, for_product);
  return status;
  //~end
}

cusolverStatus_t factorise(cusolverDnHandle_t solver, int m, int n, float* d_a, float* d_b,
                           const Space& space) {
  //~ // TODO(2): R must be in the upper triangle of a, and b be Q^T b. This is the first
  //~ // half.
  //~ static_cast<void>(d_b);
  //~ return cusolverDnSgeqrf(solver, m, n, d_a, m, space.tau, space.work, space.floats, space.info);
  //~begin 2
  const cusolverStatus_t status =
      cusolverDnSgeqrf(solver, m, n, d_a, m, space.tau, space.work, space.floats, space.info);
  if (status != CUSOLVER_STATUS_SUCCESS) return status;
  return cusolverDnSormqr(solver, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, m, 1, n, d_a, m, space.tau, d_b, m,
                          space.work, space.floats, space.info);
  //~end
}

cublasStatus_t solve(cublasHandle_t blas, int m, int n, const float* d_a, float* d_b,
                     float* residual) {
  //~ // TODO(3): x in the place of the first n numbers of b, and the length of what no x can
  //~ // reach.
  //~ static_cast<void>(d_a), static_cast<void>(n);
  //~ return cublasSnrm2(blas, m, d_b, 1, residual);
  //~begin 3
  const cublasStatus_t status = cublasStrsv(blas, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N,
                                            CUBLAS_DIAG_NON_UNIT, n, d_a, m, d_b, 1);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  return cublasSnrm2(blas, m - n, d_b + n, 1, residual);
  //~end
}
