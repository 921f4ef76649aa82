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
  // Row-major x is, by columns, a matrix of `in` rows and `batch` columns, each `in` floats long.
  // TODO(1): w and y the same way: rows and columns as cuBLASLt sees them, and the distance from
  // one of its columns to the next (2 more calls).
  static_cast<void>(out);
  return first_failure({
      cublasLtMatrixLayoutCreate(&layer->x, CUDA_R_32F, in, batch, in),
  });
}

cublasStatus_t describe_product(const float* d_bias, Layer* layer) {
  const cublasStatus_t made =
      cublasLtMatmulDescCreate(&layer->product, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  if (made != CUBLAS_STATUS_SUCCESS) return made;
  // The columns of y are w times the columns of x, if w is the first operand and transposed: as it
  // lies there, cuBLASLt sees in x out.
  // TODO(2): With `set`, set CUBLASLT_MATMUL_DESC_TRANSA, _EPILOGUE and _BIAS_POINTER. Which epilogue
  // adds a bias and then takes the maximum with 0? (3 calls)
  static_cast<void>(d_bias);
  return set(layer->product, CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
}

cublasStatus_t choose_algorithm(cublasLtHandle_t handle, size_t workspace, Layer* layer) {
  cublasLtMatmulPreference_t preference = nullptr;
  cublasLtMatmulHeuristicResult_t proposed = {};
  int proposals = 0;
  const uint64_t limit = workspace;  // the attribute has 64 bits
  cublasStatus_t status = first_failure({
      cublasLtMatmulPreferenceCreate(&preference),
      cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                           &limit, sizeof(limit)),
  });
  // TODO(3): If that was a success, ask cublasLtMatmulAlgoGetHeuristic for one proposal, and keep its
  // algorithm. C and D are both y. No proposal is CUBLAS_STATUS_NOT_SUPPORTED (about 8 lines).
  static_cast<void>(handle);
  if (proposals > 0) layer->algorithm = proposed.algo;
  if (preference != nullptr) cublasLtMatmulPreferenceDestroy(preference);
  return status;
}

cublasStatus_t launch_layer(cublasLtHandle_t handle, const Layer& layer, const float* d_x,
                            const float* d_w, float* d_y, void* d_workspace, size_t workspace,
                            cudaStream_t stream) {
  const float one = 1.0f, zero = 0.0f;
  // TODO(4): One call of cublasLtMatmul: alpha, both operands with their layouts, beta, C, D, the
  // algorithm, the workspace and the stream. There is no handle that would know a stream.
  static_cast<void>(handle), static_cast<void>(layer), static_cast<void>(d_x);
  static_cast<void>(d_w), static_cast<void>(d_workspace), static_cast<void>(workspace);
  static_cast<void>(stream), static_cast<void>(one), static_cast<void>(d_y);
  return zero == one ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}
