// 09/06 cuBLASXt: a product of matrices in host memory, by all devices of the machine.
//   a  m x k,  b  k x n,  c  m x n: floats, row-major, in host memory, larger than a card if need
//   be. No copy to the device, no stream, no synchronisation: the call cuts c into blocks, sends
//   each device what its blocks need, and returns when c is there.
//   TODOs  3
#include <vector>

#include "06_cublasxt.h"

cublasStatus_t create_xt(int block, cublasXtHandle_t* handle) {
  //~ // TODO(1): A handle that works on all devices of the machine, in blocks of block x
  //~ // block. The first failure is returned.
  //~ static_cast<void>(block);
  //~ *handle = nullptr;
  //~ return CUBLAS_STATUS_NOT_INITIALIZED;
  //~begin 1
  const cublasStatus_t created = cublasXtCreate(handle);
  if (created != CUBLAS_STATUS_SUCCESS) return created;
  std::vector<int> devices = {0};
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) return CUBLAS_STATUS_NOT_INITIALIZED;
  for (int device = 1; device < count; ++device) devices.push_back(device);
  const cublasStatus_t selected = cublasXtDeviceSelect(*handle, count, devices.data());
  if (selected != CUBLAS_STATUS_SUCCESS) return selected;
  return cublasXtSetBlockDim(*handle, block);
  //~end
}

cublasStatus_t xt_sgemm(cublasXtHandle_t handle, size_t m, size_t n, size_t k, float alpha,
                        const float* a, size_t lda, const float* b, size_t ldb, float beta,
                        float* c, size_t ldc) {
  //~ // TODO(2): c must be alpha a b + beta c, row-major. What did exercise 01 change in such
  //~ // a line?
  //~ return cublasXtSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, a, lda, b, ldb, &beta, c,
  //~                      ldc);
  //~begin 2
  return cublasXtSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &alpha, b, ldb, a, lda, &beta, c,
                       ldc);
  //~end
}

Shares share_out(size_t m, size_t n, size_t k, size_t block, size_t devices) {
  //~ // TODO(3): How many blocks are there, how many has the device that is dealt the most,
  //~ // and how many bytes of a and b are sent?
  //~ static_cast<void>(block + devices), static_cast<void>(m + n + k);
  //~ return {0, 0, 0};
  //~begin 3
  const size_t down = (m + block - 1) / block, across = (n + block - 1) / block;
  Shares shares = {down * across, 0, 0};
  shares.busiest = (shares.blocks + devices - 1) / devices;
  shares.sent = (m * k * across + k * n * down) * sizeof(float);
  return shares;
  //~end
}
