// 09/05 cuBLASLt, a fused layer: what the test calls.
#ifndef CHAPTERS_09_CUDA_LIBRARIES_05_CUBLASLT_EPILOGUE_H_
#define CHAPTERS_09_CUDA_LIBRARIES_05_CUBLASLT_EPILOGUE_H_

#include <cublasLt.h>

#include <cstddef>

// What cuBLASLt has to know about a layer. Made once, used by every call.
struct Layer {
  cublasLtMatrixLayout_t w = nullptr, x = nullptr, y = nullptr;
  cublasLtMatmulDesc_t product = nullptr;
  cublasLtMatmulAlgo_t algorithm = {};
};

// Makes layer->w, x and y. w: out x in, x: batch x in, y: batch x out floats, row-major, rows
// without gaps; all sizes at least 1.
cublasStatus_t describe_matrices(int batch, int in, int out, Layer* layer);

// Makes layer->product: y = max(0, x w^T + bias), in single precision. d_bias: out floats in device
// memory, added to every row of y; read when a call runs.
cublasStatus_t describe_product(const float* d_bias, Layer* layer);

// Sets layer->algorithm to the first that cuBLASLt proposes for this layer and that needs at most
// `workspace` bytes. CUBLAS_STATUS_NOT_SUPPORTED if it proposes none.
cublasStatus_t choose_algorithm(cublasLtHandle_t handle, size_t workspace, Layer* layer);

// y = max(0, x w^T + bias) with that algorithm, as work of `stream`. d_workspace: `workspace` bytes
// of device memory. The matrices are in device memory, aligned to 256 bytes. Does not wait.
cublasStatus_t launch_layer(cublasLtHandle_t handle, const Layer& layer, const float* d_x,
                            const float* d_w, float* d_y, void* d_workspace, size_t workspace,
                            cudaStream_t stream);

#endif  // CHAPTERS_09_CUDA_LIBRARIES_05_CUBLASLT_EPILOGUE_H_
