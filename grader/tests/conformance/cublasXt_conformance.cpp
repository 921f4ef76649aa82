// cuBLASXt: products of matrices in host memory, in blocks, and bad arguments.
#include <cublasXt.h>

#include <string>

#include "conformance.h"

using conformance::random_floats;
using conformance::relative_error;
using conformance::right;
using conformance::status;

namespace {

cublasXtHandle_t handle = nullptr;

void multiply(bool ta, bool tb, size_t m, size_t n, size_t k, float beta) {
  const size_t lda = (ta ? k : m) + 1, ldb = (tb ? n : k) + 2, ldc = m + 3;
  const std::vector<float> a = random_floats(lda * (ta ? m : k), 1),
                           b = random_floats(ldb * (tb ? k : n), 2), c = random_floats(ldc * n, 3);
  std::vector<float> got = c;
  const float alpha = 1.5F;
  const std::string name = std::string("gemm ") + (ta ? "t" : "n") + (tb ? "t" : "n");
  status(name.c_str(),
         cublasXtSgemm(handle, ta ? CUBLAS_OP_T : CUBLAS_OP_N, tb ? CUBLAS_OP_T : CUBLAS_OP_N, m, n,
                       k, &alpha, a.data(), lda, b.data(), ldb, &beta, got.data(), ldc));
  std::vector<double> want(c.begin(), c.end());
  for (size_t j = 0; j < n; ++j) {
    for (size_t i = 0; i < m; ++i) {
      double sum = 0;
      for (size_t p = 0; p < k; ++p) {
        sum += static_cast<double>(a[ta ? p + i * lda : i + p * lda]) *
               b[tb ? j + p * ldb : p + j * ldb];
      }
      double& to = want[i + j * ldc];
      to = 1.5 * sum + (beta == 0 ? 0 : beta * to);
    }
  }
  right(name.c_str(), relative_error(got, want), 1e-6);
}

}  // namespace

int main() {
  int devices[] = {0};
  const float one = 1, zero = 0;
  float x[16] = {};
  status("create", cublasXtCreate(&handle));
  status("devices", cublasXtDeviceSelect(handle, 1, devices));
  status("block", cublasXtSetBlockDim(handle, 64));
  int block = 0;
  status("get block", cublasXtGetBlockDim(handle, &block));
  std::printf("block: %d\n", block);
  multiply(false, false, 100, 90, 80, 0);
  multiply(true, false, 65, 64, 63, 0.5F);
  multiply(false, true, 30, 200, 10, -1);
  multiply(true, true, 128, 128, 128, 0);
  status("block 0", cublasXtSetBlockDim(handle, 0));
  status("no devices", cublasXtDeviceSelect(handle, 0, devices));
  devices[0] = 99;
  status("device 99", cublasXtDeviceSelect(handle, 1, devices));
  status("no handle",
         cublasXtSgemm(nullptr, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, x, 2, x, 2, &zero, x, 2));
  status("lda too small",
         cublasXtSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 2, 2, &one, x, 3, x, 2, &zero, x, 4));
  status("no place for a handle", cublasXtCreate(nullptr));
  status("destroy", cublasXtDestroy(handle));
}
