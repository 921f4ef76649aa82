// cuBLASXt's interface as far as the simulator has it, for machines without the vendor's header.
// Names, values and types are those of the public documentation:
// https://docs.nvidia.com/cuda/cublas/#using-the-cublasxt-api
#ifndef WARPLINGS_CUBLASXT_H_
#define WARPLINGS_CUBLASXT_H_

#include <cublas_v2.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cublasXtContext* cublasXtHandle_t;

cublasStatus_t cublasXtCreate(cublasXtHandle_t* handle);
cublasStatus_t cublasXtDestroy(cublasXtHandle_t handle);
cublasStatus_t cublasXtDeviceSelect(cublasXtHandle_t handle, int nbDevices, int deviceId[]);
// Matrices are cut into square blocks of this width, dealt to the devices.
cublasStatus_t cublasXtSetBlockDim(cublasXtHandle_t handle, int blockDim);
cublasStatus_t cublasXtGetBlockDim(cublasXtHandle_t handle, int* blockDim);

// C = alpha op(A) op(B) + beta C, all in host memory; returns when C is complete.
cublasStatus_t cublasXtSgemm(cublasXtHandle_t handle, cublasOperation_t transa,
                             cublasOperation_t transb, size_t m, size_t n, size_t k,
                             const float* alpha, const float* A, size_t lda, const float* B,
                             size_t ldb, const float* beta, float* C, size_t ldc);
cublasStatus_t cublasXtDgemm(cublasXtHandle_t handle, cublasOperation_t transa,
                             cublasOperation_t transb, size_t m, size_t n, size_t k,
                             const double* alpha, const double* A, size_t lda, const double* B,
                             size_t ldb, const double* beta, double* C, size_t ldc);

#ifdef __cplusplus
}
#endif
#endif  // WARPLINGS_CUBLASXT_H_
