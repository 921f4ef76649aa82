// The triangle by cublasStrsm, b as a matrix, and the powers by one thread per element.
#include <algorithm>

#include "17_cusolver_least_squares.h"

namespace {

__global__ void power_of(const float* t, float* a, int m) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m) return;
  float power = 1.0f;
  for (unsigned i = 0; i < blockIdx.y; ++i) power *= t[row];
  a[row + static_cast<size_t>(blockIdx.y) * m] = power;
}

}  // namespace

void launch_powers(const float* d_t, float* d_a, int m, int n, cudaStream_t stream) {
  const dim3 grid((m + 63) / 64, n);
  power_of<<<grid, 64, 0, stream>>>(d_t, d_a, m);
}

cusolverStatus_t work_size(cusolverDnHandle_t solver, int m, int n, float* d_a, float* d_tau,
                           float* d_b, int* floats) {
  int sizes[2] = {};
  const cusolverStatus_t first = cusolverDnSgeqrf_bufferSize(solver, m, n, d_a, m, &sizes[0]);
  const cusolverStatus_t second = cusolverDnSormqr_bufferSize(
      solver, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, m, 1, n, d_a, m, d_tau, d_b, m, &sizes[1]);
  *floats = sizes[0] + sizes[1];
  return first == CUSOLVER_STATUS_SUCCESS ? second : first;
}

cusolverStatus_t factorise(cusolverDnHandle_t solver, int m, int n, float* d_a, float* d_b,
                           const Space& space) {
  cusolverStatus_t status =
      cusolverDnSgeqrf(solver, m, n, d_a, m, space.tau, space.work, space.floats, space.info);
  if (status == CUSOLVER_STATUS_SUCCESS) {
    status = cusolverDnSormqr(solver, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, m, 1, n, d_a, m, space.tau,
                              d_b, m, space.work, space.floats, space.info);
  }
  return status;
}

cublasStatus_t solve(cublasHandle_t blas, int m, int n, const float* d_a, float* d_b,
                     float* residual) {
  const float one = 1.0f;
  const cublasStatus_t solved =
      cublasStrsm(blas, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N,
                  CUBLAS_DIAG_NON_UNIT, n, 1, &one, d_a, m, d_b, m);
  if (solved != CUBLAS_STATUS_SUCCESS) return solved;
  return cublasSnrm2(blas, m - n, d_b + n, 1, residual);
}
