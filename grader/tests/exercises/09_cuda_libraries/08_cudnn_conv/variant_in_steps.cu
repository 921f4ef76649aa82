// Statuses one by one, one running place instead of a formula, tensors with strides, and the list
// searched for the usable entries first.
#include "08_cudnn_conv.h"

void flatten(const float* const* const* x, int c, int h, int w, float* flat) {
  for (int row = 0; row < c * h; ++row) {
    for (int col = 0; col < w; ++col) *flat++ = x[row / h][row % h][col];
  }
}

cudnnStatus_t describe_conv(const ConvSetup& setup, const ConvDescriptors& d) {
  const int plane = setup.h * setup.w;
  cudnnStatus_t status =
      cudnnSetTensor4dDescriptorEx(d.x, CUDNN_DATA_FLOAT, setup.n, setup.c, setup.h, setup.w,
                                   setup.c * plane, plane, setup.w, 1);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  status = cudnnSetFilter4dDescriptor(d.f, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, setup.k, setup.c,
                                      setup.r, setup.s);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  status =
      cudnnSetConvolution2dDescriptor(d.how, setup.pad_h, setup.pad_w, setup.stride, setup.stride,
                                      1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  return cudnnSetConvolutionMathType(d.how, CUDNN_FMA_MATH);
}

cudnnStatus_t size_output(const ConvDescriptors& d, int* n, int* k, int* p, int* q) {
  const cudnnStatus_t status = cudnnGetConvolution2dForwardOutputDim(d.how, d.x, d.f, n, k, p, q);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  const int sizes[] = {*n, *k, *p, *q};
  const int strides[] = {*k * *p * *q, *p * *q, *q, 1};
  return cudnnSetTensorNdDescriptor(d.y, CUDNN_DATA_FLOAT, 4, sizes, strides);
}

cudnnStatus_t choose_algorithm(cudnnHandle_t handle, const ConvDescriptors& d, size_t limit,
                               cudnnConvolutionFwdAlgoPerf_t* chosen) {
  int most = 0, count = 0;
  cudnnStatus_t status = cudnnGetConvolutionForwardAlgorithmMaxCount(handle, &most);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  cudnnConvolutionFwdAlgoPerf_t found[32];
  status = cudnnGetConvolutionForwardAlgorithm_v7(handle, d.x, d.f, d.how, d.y,
                                                  most < 32 ? most : 32, &count, found);
  int i = 0;
  while (i < count && (found[i].status != CUDNN_STATUS_SUCCESS || found[i].memory > limit)) ++i;
  if (status == CUDNN_STATUS_SUCCESS && i == count) status = CUDNN_STATUS_NOT_SUPPORTED;
  if (status == CUDNN_STATUS_SUCCESS) *chosen = found[i];
  return status;
}

cudnnStatus_t launch_conv(cudnnHandle_t handle, const ConvDescriptors& d,
                          const cudnnConvolutionFwdAlgoPerf_t& chosen, const float* d_x,
                          const float* d_f, void* d_workspace, float* d_y) {
  const float factors[] = {1, 0};
  size_t bytes = 0;  // asked for again: the same as chosen.memory
  const cudnnStatus_t status =
      cudnnGetConvolutionForwardWorkspaceSize(handle, d.x, d.f, d.how, d.y, chosen.algo, &bytes);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  return cudnnConvolutionForward(handle, &factors[0], d.x, d_x, d.f, d_f, d.how, chosen.algo,
                                 d_workspace, bytes, &factors[1], d.y, d_y);
}
