// A return behind every call, sizes from the formula with everything in it, and the algorithm from
// the sizes of workspaces instead of from the entries.
#include "18_cudnn_mistakes.h"

#define RETURN_IF_REFUSED(call)                        \
  do {                                                 \
    const cudnnStatus_t status = (call);               \
    if (status != CUDNN_STATUS_SUCCESS) return status; \
  } while (false)

cudnnStatus_t run_layer(cudnnHandle_t handle, const ConvSetup& setup, const float* d_x,
                        const float* d_f, void* d_workspace, size_t bytes, float* d_y,
                        cudnnConvolutionFwdAlgoPerf_t* used) {
  const ConvDescriptors d;
  RETURN_IF_REFUSED(cudnnSetTensor4dDescriptor(d.x, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, setup.n,
                                               setup.c, setup.h, setup.w));
  RETURN_IF_REFUSED(cudnnSetFilter4dDescriptor(d.f, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, setup.k,
                                               setup.c, setup.r, setup.s));
  RETURN_IF_REFUSED(cudnnSetConvolution2dDescriptor(d.how, setup.pad_h, setup.pad_w, setup.stride,
                                                    setup.stride, 1, 1, CUDNN_CROSS_CORRELATION,
                                                    CUDNN_DATA_FLOAT));
  RETURN_IF_REFUSED(cudnnSetConvolutionMathType(d.how, CUDNN_FMA_MATH));
  const int rows = (setup.h + 2 * setup.pad_h - setup.r) / setup.stride + 1;
  const int cols = (setup.w + 2 * setup.pad_w - setup.s) / setup.stride + 1;
  RETURN_IF_REFUSED(cudnnSetTensor4dDescriptor(d.y, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, setup.n,
                                               setup.k, rows, cols));
  cudnnConvolutionFwdAlgoPerf_t found[CUDNN_CONVOLUTION_FWD_ALGO_COUNT];
  int count = 0;
  RETURN_IF_REFUSED(cudnnGetConvolutionForwardAlgorithm_v7(
      handle, d.x, d.f, d.how, d.y, CUDNN_CONVOLUTION_FWD_ALGO_COUNT, &count, found));
  const float one = 1, zero = 0;
  for (int i = 0; i < count; ++i) {
    size_t needed = 0;
    if (found[i].status != CUDNN_STATUS_SUCCESS) continue;
    RETURN_IF_REFUSED(cudnnGetConvolutionForwardWorkspaceSize(handle, d.x, d.f, d.how, d.y,
                                                              found[i].algo, &needed));
    if (needed > bytes) continue;
    *used = found[i];
    return cudnnConvolutionForward(handle, &one, d.x, d_x, d.f, d_f, d.how, found[i].algo,
                                   d_workspace, needed, &zero, d.y, d_y);
  }
  return CUDNN_STATUS_NOT_SUPPORTED;
}
