// 09/05 cuBLASLt: a linear layer, its bias and its ReLU in one call.
//   y = max(0, x w^T + bias):  x  batch x in,  w  out x in,  bias  out,  y  batch x out
//   All floats, row-major. Alone, a bias and a ReLU read and write y once more; as the epilogue of
//   the product they are applied to sums that are still in registers.
//   cuBLASLt is told everything by descriptors. Return the first status that is not a success.
//   TODOs  4
#include <initializer_list>

#include "05_cublaslt_epilogue.h"

namespace {

// Calls in braces are made from left to right.
cublasStatus_t first_failure(std::initializer_list<cublasStatus_t> statuses) {
  for (const cublasStatus_t status : statuses) {
    if (status != CUBLAS_STATUS_SUCCESS) return status;
  }
  return CUBLAS_STATUS_SUCCESS;
}

template <class Value>
cublasStatus_t set(cublasLtMatmulDesc_t product, cublasLtMatmulDescAttributes_t attribute,
                   const Value& value) {
  return cublasLtMatmulDescSetAttribute(product, attribute, &value, sizeof(value));
}

}  // namespace

cublasStatus_t describe_matrices(int batch, int in, int out, Layer* layer) {
  // TODO(1): Create the layouts of x, w and y: rows, columns and leading dimension as a
  // library sees them that reads by columns.
  static_cast<void>(batch + in + out), static_cast<void>(layer);
  return first_failure({CUBLAS_STATUS_NOT_INITIALIZED});
}

cublasStatus_t describe_product(const float* d_bias, Layer* layer) {
  // TODO(2): Create the product, which adds up in floats. It must know which operand is
  // transposed, what happens to a sum before it is stored, and where the bias lies (`set`
  // sets one of these).
  static_cast<void>(d_bias);
  return set(layer->product, CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_N);
}

cublasStatus_t choose_algorithm(cublasLtHandle_t handle, size_t workspace, Layer* layer) {
  // TODO(3): Ask the heuristic for one proposal that needs at most `workspace` bytes, and
  // keep its algorithm. No proposal is CUBLAS_STATUS_NOT_SUPPORTED. Whatever happens, no
  // preference is left behind.
  static_cast<void>(handle), static_cast<void>(workspace), static_cast<void>(layer);
  return CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t launch_layer(cublasLtHandle_t handle, const Layer& layer, const float* d_x,
                            const float* d_w, float* d_y, void* d_workspace, size_t workspace,
                            cudaStream_t stream) {
  // TODO(4): Run the layer as it was described, as work of `stream`.
  static_cast<void>(handle), static_cast<void>(layer.product), static_cast<void>(d_x);
  static_cast<void>(d_w), static_cast<void>(d_y), static_cast<void>(d_workspace);
  static_cast<void>(workspace), static_cast<void>(stream);
  return CUBLAS_STATUS_NOT_INITIALIZED;
}
