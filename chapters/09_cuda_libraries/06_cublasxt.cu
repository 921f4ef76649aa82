// 09/06 cuBLASXt: a product of matrices in host memory, by all devices of the machine.
//   a  m x k,  b  k x n,  c  m x n: floats, row-major, in host memory, larger than a card if need
//   be No copy to the device, no stream, no synchronisation: the call cuts c into blocks, sends
//   each device what its blocks need, and returns when c is there.
//   TODOs  3
#include <vector>

#include "06_cublasxt.h"

cublasStatus_t create_xt(int block, cublasXtHandle_t* handle) {
  const cublasStatus_t created = cublasXtCreate(handle);
  if (created != CUBLAS_STATUS_SUCCESS) return created;
  std::vector<int> devices = {0};
  // TODO(1): Put the number of every device into the list, then select these devices and set the
  // block size. Return the first status that is not a success (about 7 lines).
  static_cast<void>(block);
  return cublasXtDeviceSelect(*handle, 1, devices.data());
}

cublasStatus_t xt_sgemm(cublasXtHandle_t handle, size_t m, size_t n, size_t k, float alpha,
                        const float* a, size_t lda, const float* b, size_t ldb, float beta,
                        float* c, size_t ldc) {
  // TODO(2): cuBLASXt is column-major too. Exercise 01 has the order of operands and sizes (1 call).
  return cublasXtSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, a, lda, b, ldb, &beta, c,
                       ldc);
}

Shares share_out(size_t m, size_t n, size_t k, size_t block, size_t devices) {
  const size_t down = (m + block - 1) / block, across = (n + block - 1) / block;
  Shares shares = {down * across, 0, 0};
  // TODO(3): How many blocks has the device that is dealt the most? How often is each row of a sent,
  // and each column of b? Count the bytes (2 lines).
  shares.busiest = shares.blocks / devices;
  shares.sent = (m * k + k * n) * sizeof(float);
  return shares;
}
