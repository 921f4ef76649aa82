// cuBLASXt: products of matrices in host memory, cut into blocks that the devices share.
#include <cublasXt.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "common/call.h"
#include "common/held.h"
#include "cublas/gemm.h"

using namespace warplings::libraries;

struct cublasXtContext {
  std::vector<int> devices = {0};
  int block = 1024;
  warplings::libraries::Held held{"cuBLASXt handle"};
};

namespace {

std::set<cublasXtHandle_t>& xt_handles() {
  static auto* const set = new std::set<cublasXtHandle_t>();
  return *set;
}

// One block of C: rows and columns from here on.
struct Block {
  int64_t row, column, rows, columns;
};

std::vector<Block> blocks_of(int64_t m, int64_t n, int64_t width) {
  std::vector<Block> blocks;
  for (int64_t column = 0; column < n; column += width) {
    for (int64_t row = 0; row < m; row += width) {
      blocks.push_back({row, column, std::min(width, m - row), std::min(width, n - column)});
    }
  }
  return blocks;
}

template <class T>
struct Product {
  GemmShape shape;
  T alpha, beta;
  const T *a, *b;
  T* c;

  void compute(const Block& block) const {
    GemmShape part = shape;
    part.m = block.rows;
    part.n = block.columns;
    const T* from_a = a + (shape.transpose_a ? block.row * shape.lda : block.row);
    const T* from_b = b + (shape.transpose_b ? block.column : block.column * shape.ldb);
    T* to = c + block.row + block.column * shape.ldc;
    gemm(part, static_cast<double>(alpha), from_a, from_b, static_cast<double>(beta), to, to,
         shape.ldc, {});
  }
  // What a device gets and returns for a block.
  double bytes(const Block& block) const {
    const int64_t values = shape.k * (block.rows + block.columns) + 2 * block.rows * block.columns;
    return static_cast<double>(values) * sizeof(T);
  }
};

// Each device has every so-many-th block; the call waits for all of them.
template <class T>
cublasStatus_t run(const Call& call, const cublasXtContext& context, const Product<T>& product) {
  const GemmShape& s = product.shape;
  const std::vector<Block> blocks = blocks_of(s.m, s.n, context.block);
  const size_t devices = context.devices.size();
  const int before = current_device();
  cudaError_t error = cudaSuccess;
  for (size_t i = 0; i < devices && error == cudaSuccess; ++i) {
    std::vector<Block> mine;
    Placement placement;
    placement.device = context.devices[i];
    for (size_t j = i; j < blocks.size(); j += devices) {
      mine.push_back(blocks[j]);
      placement.operations += 2.0 * static_cast<double>(blocks[j].rows * blocks[j].columns * s.k);
      placement.link_bytes += product.bytes(blocks[j]);
    }
    error = call.enqueue(placement, Operands(), [product, mine] {
      for (const Block& block : mine) product.compute(block);
    });
  }
  for (const int device : context.devices) {
    cudaSetDevice(device);
    if (error == cudaSuccess) error = cudaStreamSynchronize(nullptr);
  }
  cudaSetDevice(before);
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

bool is_operation(cublasOperation_t op) {
  return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C;
}

template <class T>
cublasStatus_t multiply(const Call& call, cublasXtHandle_t handle, cublasOperation_t transa,
                        cublasOperation_t transb, size_t m, size_t n, size_t k, const T* alpha,
                        const T* a, size_t lda, const T* b, size_t ldb, const T* beta, T* c,
                        size_t ldc) {
  if (!xt_handles().contains(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  const bool ta = transa != CUBLAS_OP_N, tb = transb != CUBLAS_OP_N;
  const size_t one = 1;
  if (!is_operation(transa) || !is_operation(transb) || alpha == nullptr || beta == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const struct {
    const char* name;
    size_t ld, rows;
  } distances[] = {{"lda", lda, ta ? k : m}, {"ldb", ldb, tb ? n : k}, {"ldc", ldc, m}};
  for (const auto& each : distances) {
    if (each.ld >= std::max(one, each.rows)) continue;
    call.explain("invalid-value", std::string("refuses ") + each.name + " = " +
                                      std::to_string(each.ld) + ": a column of that matrix has " +
                                      std::to_string(each.rows) +
                                      " elements (matrices are column-major; a row-major one is "
                                      "the transposed of it).");
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  for (const void* pointer :
       {static_cast<const void*>(a), static_cast<const void*>(b), static_cast<const void*>(c)}) {
    if (wsim_is_device_only(pointer) == 0) continue;
    call.not_simulated("matrices in device memory");
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  Product<T> product{{}, *alpha, *beta, a, b, c};
  GemmShape& shape = product.shape;
  shape.m = static_cast<int64_t>(m);
  shape.n = static_cast<int64_t>(n);
  shape.k = static_cast<int64_t>(k);
  shape.transpose_a = ta;
  shape.transpose_b = tb;
  shape.lda = static_cast<int64_t>(lda);
  shape.ldb = static_cast<int64_t>(ldb);
  shape.ldc = static_cast<int64_t>(ldc);
  const bool wide = sizeof(T) == sizeof(double);
  shape.a = shape.b = shape.c = wide ? Number::kDouble : Number::kFloat;
  shape.arithmetic = wide ? Arithmetic::kDouble : Arithmetic::kFloat;
  return run(call, *handle, product);
}

}  // namespace

extern "C" {

cublasStatus_t cublasXtCreate(cublasXtHandle_t* handle) {
  WARPLINGS_MAY_FAIL(cublasXtCreate, CUBLAS_STATUS_ALLOC_FAILED);
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *handle = new cublasXtContext();
  xt_handles().insert(*handle);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasXtDestroy(cublasXtHandle_t handle) {
  if (xt_handles().erase(handle) == 0) return CUBLAS_STATUS_NOT_INITIALIZED;
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasXtDeviceSelect(cublasXtHandle_t handle, int nbDevices, int deviceId[]) {
  WARPLINGS_MAY_FAIL(cublasXtDeviceSelect, CUBLAS_STATUS_INTERNAL_ERROR);
  if (!xt_handles().contains(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  int present = 0;
  cudaGetDeviceCount(&present);
  if (nbDevices < 1 || deviceId == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  for (int i = 0; i < nbDevices; ++i) {
    if (deviceId[i] < 0 || deviceId[i] >= present) return CUBLAS_STATUS_INVALID_VALUE;
  }
  handle->devices.assign(deviceId, deviceId + nbDevices);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasXtSetBlockDim(cublasXtHandle_t handle, int blockDim) {
  WARPLINGS_MAY_FAIL(cublasXtSetBlockDim, CUBLAS_STATUS_INTERNAL_ERROR);
  if (!xt_handles().contains(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (blockDim < 1) return CUBLAS_STATUS_INVALID_VALUE;
  handle->block = blockDim;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasXtGetBlockDim(cublasXtHandle_t handle, int* blockDim) {
  if (!xt_handles().contains(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (blockDim == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *blockDim = handle->block;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasXtSgemm(cublasXtHandle_t handle, cublasOperation_t transa,
                             cublasOperation_t transb, size_t m, size_t n, size_t k,
                             const float* alpha, const float* A, size_t lda, const float* B,
                             size_t ldb, const float* beta, float* C, size_t ldc) {
  WARPLINGS_LIBRARY_CALL(cublasXtSgemm);
  return multiply(call, handle, transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}

cublasStatus_t cublasXtDgemm(cublasXtHandle_t handle, cublasOperation_t transa,
                             cublasOperation_t transb, size_t m, size_t n, size_t k,
                             const double* alpha, const double* A, size_t lda, const double* B,
                             size_t ldb, const double* beta, double* C, size_t ldc) {
  WARPLINGS_LIBRARY_CALL(cublasXtDgemm);
  return multiply(call, handle, transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}

}  // extern "C"
