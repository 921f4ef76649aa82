// Devices in descending order, and shares counted block by block.
#include <algorithm>
#include <numeric>
#include <vector>

#include "06_cublasxt.h"

cublasStatus_t create_xt(int block, cublasXtHandle_t* handle) {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) return CUBLAS_STATUS_NOT_INITIALIZED;
  std::vector<int> devices(count);
  std::iota(devices.rbegin(), devices.rend(), 0);
  cublasStatus_t status = cublasXtCreate(handle);
  if (status == CUBLAS_STATUS_SUCCESS) status = cublasXtSetBlockDim(*handle, block);
  if (status == CUBLAS_STATUS_SUCCESS) {
    status = cublasXtDeviceSelect(*handle, count, devices.data());
  }
  return status;
}

cublasStatus_t xt_sgemm(cublasXtHandle_t handle, size_t m, size_t n, size_t k, float alpha,
                        const float* a, size_t lda, const float* b, size_t ldb, float beta,
                        float* c, size_t ldc) {
  return cublasXtSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &alpha, b, ldb, a, lda, &beta, c,
                       ldc);
}

Shares share_out(size_t m, size_t n, size_t k, size_t block, size_t devices) {
  Shares shares = {};
  for (size_t row = 0; row < m; row += block) {
    const size_t rows = std::min(block, m - row);
    for (size_t col = 0; col < n; col += block) {
      const size_t cols = std::min(block, n - col);
      if (shares.blocks % devices == 0) ++shares.busiest;
      ++shares.blocks;
      shares.sent += (rows + cols) * k * sizeof(float);
    }
  }
  return shares;
}
