// cuSOLVER's dense interface as far as the simulator has it, for machines without the vendor's
// header. Names, values and types are those of the public documentation:
// https://docs.nvidia.com/cuda/cusolver/
//
// Matrices are column-major in device memory; a leading dimension is the distance between columns,
// in elements. `Workspace` has Lwork elements, at least as many as the ..._bufferSize of the same
// call says. *devInfo, in device memory: 0, or what a function says beside its name.
#ifndef WARPLINGS_CUSOLVER_DN_H_
#define WARPLINGS_CUSOLVER_DN_H_

#include <cublas_v2.h>
#include <cusolver_common.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cusolverDnContext* cusolverDnHandle_t;

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle);
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle);
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t streamId);
cusolverStatus_t cusolverDnGetStream(cusolverDnHandle_t handle, cudaStream_t* streamId);

// A = L L^T or U^T U, of a symmetric positive definite A of which one triangle is given. *devInfo =
// i: the leading minor of order i is not positive.
cusolverStatus_t cusolverDnSpotrf_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo,
                                             int n, float* A, int lda, int* Lwork);
cusolverStatus_t cusolverDnDpotrf_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo,
                                             int n, double* A, int lda, int* Lwork);
cusolverStatus_t cusolverDnSpotrf(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, float* A,
                                  int lda, float* Workspace, int Lwork, int* devInfo);
cusolverStatus_t cusolverDnDpotrf(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,
                                  double* A, int lda, double* Workspace, int Lwork, int* devInfo);

// Solves A X = B with the triangle that potrf left.
cusolverStatus_t cusolverDnSpotrs(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, int nrhs,
                                  const float* A, int lda, float* B, int ldb, int* devInfo);
cusolverStatus_t cusolverDnDpotrs(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, int nrhs,
                                  const double* A, int lda, double* B, int ldb, int* devInfo);

// A = P L U with row interchanges (none if devIpiv is null), counted from 1. *devInfo = i: U(i,i)
// is 0.
cusolverStatus_t cusolverDnSgetrf_bufferSize(cusolverDnHandle_t handle, int m, int n, float* A,
                                             int lda, int* Lwork);
cusolverStatus_t cusolverDnDgetrf_bufferSize(cusolverDnHandle_t handle, int m, int n, double* A,
                                             int lda, int* Lwork);
cusolverStatus_t cusolverDnSgetrf(cusolverDnHandle_t handle, int m, int n, float* A, int lda,
                                  float* Workspace, int* devIpiv, int* devInfo);
cusolverStatus_t cusolverDnDgetrf(cusolverDnHandle_t handle, int m, int n, double* A, int lda,
                                  double* Workspace, int* devIpiv, int* devInfo);

// Solves op(A) X = B with what getrf left.
cusolverStatus_t cusolverDnSgetrs(cusolverDnHandle_t handle, cublasOperation_t trans, int n,
                                  int nrhs, const float* A, int lda, const int* devIpiv, float* B,
                                  int ldb, int* devInfo);
cusolverStatus_t cusolverDnDgetrs(cusolverDnHandle_t handle, cublasOperation_t trans, int n,
                                  int nrhs, const double* A, int lda, const int* devIpiv, double* B,
                                  int ldb, int* devInfo);

// A = Q R: R in the upper triangle, below it the vectors of min(m, n) reflections, whose factors
// are TAU.
cusolverStatus_t cusolverDnSgeqrf_bufferSize(cusolverDnHandle_t handle, int m, int n, float* A,
                                             int lda, int* lwork);
cusolverStatus_t cusolverDnDgeqrf_bufferSize(cusolverDnHandle_t handle, int m, int n, double* A,
                                             int lda, int* lwork);
cusolverStatus_t cusolverDnSgeqrf(cusolverDnHandle_t handle, int m, int n, float* A, int lda,
                                  float* TAU, float* Workspace, int Lwork, int* devInfo);
cusolverStatus_t cusolverDnDgeqrf(cusolverDnHandle_t handle, int m, int n, double* A, int lda,
                                  double* TAU, double* Workspace, int Lwork, int* devInfo);

// The first n columns of the product of k reflections, in place of their vectors.
cusolverStatus_t cusolverDnSorgqr_bufferSize(cusolverDnHandle_t handle, int m, int n, int k,
                                             const float* A, int lda, const float* tau, int* lwork);
cusolverStatus_t cusolverDnDorgqr_bufferSize(cusolverDnHandle_t handle, int m, int n, int k,
                                             const double* A, int lda, const double* tau,
                                             int* lwork);
cusolverStatus_t cusolverDnSorgqr(cusolverDnHandle_t handle, int m, int n, int k, float* A, int lda,
                                  const float* tau, float* work, int lwork, int* info);
cusolverStatus_t cusolverDnDorgqr(cusolverDnHandle_t handle, int m, int n, int k, double* A,
                                  int lda, const double* tau, double* work, int lwork, int* info);

// C = op(Q) C or C op(Q), Q being the product of k reflections.
cusolverStatus_t cusolverDnSormqr_bufferSize(cusolverDnHandle_t handle, cublasSideMode_t side,
                                             cublasOperation_t trans, int m, int n, int k,
                                             const float* A, int lda, const float* tau,
                                             const float* C, int ldc, int* lwork);
cusolverStatus_t cusolverDnDormqr_bufferSize(cusolverDnHandle_t handle, cublasSideMode_t side,
                                             cublasOperation_t trans, int m, int n, int k,
                                             const double* A, int lda, const double* tau,
                                             const double* C, int ldc, int* lwork);
cusolverStatus_t cusolverDnSormqr(cusolverDnHandle_t handle, cublasSideMode_t side,
                                  cublasOperation_t trans, int m, int n, int k, const float* A,
                                  int lda, const float* tau, float* C, int ldc, float* work,
                                  int lwork, int* devInfo);
cusolverStatus_t cusolverDnDormqr(cusolverDnHandle_t handle, cublasSideMode_t side,
                                  cublasOperation_t trans, int m, int n, int k, const double* A,
                                  int lda, const double* tau, double* C, int ldc, double* work,
                                  int lwork, int* devInfo);

#ifdef __cplusplus
}
#endif

#endif  // WARPLINGS_CUSOLVER_DN_H_
