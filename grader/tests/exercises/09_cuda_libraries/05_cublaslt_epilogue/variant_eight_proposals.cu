// The attributes one by one, and the first of eight proposals that the workspace allows.
#include "05_cublaslt_epilogue.h"

cublasStatus_t describe_matrices(int batch, int in, int out, Layer* layer) {
  cublasStatus_t status = cublasLtMatrixLayoutCreate(&layer->w, CUDA_R_32F, in, out, in);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  status = cublasLtMatrixLayoutCreate(&layer->x, CUDA_R_32F, in, batch, in);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  return cublasLtMatrixLayoutCreate(&layer->y, CUDA_R_32F, out, batch, out);
}

cublasStatus_t describe_product(const float* d_bias, Layer* layer) {
  cublasStatus_t status =
      cublasLtMatmulDescCreate(&layer->product, CUBLAS_COMPUTE_32F_PEDANTIC, CUDA_R_32F);
  const cublasOperation_t transposed = CUBLAS_OP_T, as_it_is = CUBLAS_OP_N;
  const cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_RELU_BIAS;
  const cudaDataType type = CUDA_R_32F;
  const struct {
    cublasLtMatmulDescAttributes_t attribute;
    const void* value;
    size_t size;
  } attributes[] = {
      {CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof(transposed)},
      {CUBLASLT_MATMUL_DESC_TRANSB, &as_it_is, sizeof(as_it_is)},
      {CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof(epilogue)},
      {CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, &type, sizeof(type)},
      {CUBLASLT_MATMUL_DESC_BIAS_POINTER, &d_bias, sizeof(d_bias)},
  };
  for (const auto& each : attributes) {
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    status = cublasLtMatmulDescSetAttribute(layer->product, each.attribute, each.value, each.size);
  }
  return status;
}

cublasStatus_t choose_algorithm(cublasLtHandle_t handle, size_t workspace, Layer* layer) {
  constexpr int kMost = 8;
  cublasLtMatmulHeuristicResult_t proposed[kMost] = {};
  cublasLtMatmulPreference_t preference = nullptr;
  int proposals = 0;
  cublasStatus_t status = cublasLtMatmulPreferenceCreate(&preference);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  status = cublasLtMatmulPreferenceSetAttribute(
      preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof(workspace));
  if (status == CUBLAS_STATUS_SUCCESS) {
    status = cublasLtMatmulAlgoGetHeuristic(handle, layer->product, layer->w, layer->x, layer->y,
                                            layer->y, preference, kMost, proposed, &proposals);
  }
  cublasLtMatmulPreferenceDestroy(preference);
  for (int i = proposals - 1; i >= 0; --i) {
    if (proposed[i].workspaceSize <= workspace) layer->algorithm = proposed[i].algo;
  }
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  return proposals > 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t launch_layer(cublasLtHandle_t handle, const Layer& layer, const float* d_x,
                            const float* d_w, float* d_y, void* d_workspace, size_t workspace,
                            cudaStream_t stream) {
  const float one = 1.0f, zero = 0.0f;
  return cublasLtMatmul(handle, layer.product, &one, d_w, layer.w, d_x, layer.x, &zero, d_y,
                        layer.y, d_y, layer.y, &layer.algorithm, d_workspace, workspace, stream);
}
