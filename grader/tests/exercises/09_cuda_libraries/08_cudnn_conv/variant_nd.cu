// By the functions for any number of dimensions, with a copy of whole rows and a search by an
// algorithm of the standard library.
#include <algorithm>

#include "08_cudnn_conv.h"

void flatten(const float* const* const* x, int c, int h, int w, float* flat) {
  for (int row = 0; row < c * h; ++row) {
    const float* const from = x[row / h][row % h];
    flat = std::copy(from, from + w, flat);
  }
}

cudnnStatus_t describe_conv(const ConvSetup& setup, const ConvDescriptors& d) {
  const int x[] = {setup.n, setup.c, setup.h, setup.w}, f[] = {setup.k, setup.c, setup.r, setup.s};
  const int pad[] = {setup.pad_h, setup.pad_w}, stride[] = {setup.stride, setup.stride};
  const int dilation[] = {1, 1};
  return first_failure(
      {cudnnSetConvolutionGroupCount(d.how, 1),
       cudnnSetConvolutionNdDescriptor(d.how, 2, pad, stride, dilation, CUDNN_CROSS_CORRELATION,
                                       CUDNN_DATA_FLOAT),
       cudnnSetConvolutionMathType(d.how, CUDNN_FMA_MATH),
       cudnnSetFilterNdDescriptor(d.f, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 4, f),
       cudnnSetTensorNdDescriptorEx(d.x, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 4, x)});
}

cudnnStatus_t size_output(const ConvDescriptors& d, int* n, int* k, int* p, int* q) {
  int size[4] = {};
  const cudnnStatus_t status = cudnnGetConvolutionNdForwardOutputDim(d.how, d.x, d.f, 4, size);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  *n = size[0], *k = size[1], *p = size[2], *q = size[3];
  const int stride[] = {size[1] * size[2] * size[3], size[2] * size[3], size[3], 1};
  return cudnnSetTensorNdDescriptor(d.y, CUDNN_DATA_FLOAT, 4, size, stride);
}

cudnnStatus_t choose_algorithm(cudnnHandle_t handle, const ConvDescriptors& d, size_t limit,
                               cudnnConvolutionFwdAlgoPerf_t* chosen) {
  cudnnConvolutionFwdAlgoPerf_t found[CUDNN_CONVOLUTION_FWD_ALGO_COUNT];
  int count = 0;
  const cudnnStatus_t status = cudnnGetConvolutionForwardAlgorithm_v7(
      handle, d.x, d.f, d.how, d.y, CUDNN_CONVOLUTION_FWD_ALGO_COUNT, &count, found);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  const auto* const first =
      std::find_if(found, found + count, [&](const cudnnConvolutionFwdAlgoPerf_t& entry) {
        return entry.status == CUDNN_STATUS_SUCCESS && entry.memory <= limit;
      });
  if (first == found + count) return CUDNN_STATUS_NOT_SUPPORTED;
  *chosen = *first;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t launch_conv(cudnnHandle_t handle, const ConvDescriptors& d,
                          const cudnnConvolutionFwdAlgoPerf_t& chosen, const float* d_x,
                          const float* d_f, void* d_workspace, float* d_y) {
  const float factors[] = {1, 0};
  return cudnnConvolutionForward(handle, &factors[0], d.x, d_x, d.f, d_f, d.how, chosen.algo,
                                 d_workspace, chosen.memory, &factors[1], d.y, d_y);
}
