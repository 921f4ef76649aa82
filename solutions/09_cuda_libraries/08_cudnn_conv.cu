// 09/08 cuDNN, convolution: a tensor in the right order, descriptors, the size of the result, an
// algorithm with its workspace, and the call.
//   x, f, y  tensors of floats as in 08_cudnn_conv.h, NCHW
//   TODOs  5
#include "08_cudnn_conv.h"

void flatten(const float* const* const* x, int c, int h, int w, float* flat) {
  //~ // TODO(1): Put each element where NCHW has it. An image of 4 channels of 2 x 3 has
  //~ // x[1][0][2] at 8.
  //~ for (int i = 0; i < c * h * w; ++i) flat[i] = x[0][0][0];
  //~begin 1
  for (int channel = 0; channel < c; ++channel) {
    for (int row = 0; row < h; ++row) {
      for (int col = 0; col < w; ++col) {
        flat[(channel * h + row) * w + col] = x[channel][row][col];
      }
    }
  }
  //~end
}

cudnnStatus_t describe_conv(const ConvSetup& setup, const ConvDescriptors& d) {
  //~ // TODO(2): Describe x, the filters, and how it is done. Nothing may be multiplied with
  //~ // fewer digits than a float has, and the first refusal is returned.
  //~ static_cast<void>(setup.n), static_cast<void>(d.x);
  //~ return CUDNN_STATUS_SUCCESS;
  //~begin 2
  const auto order = CUDNN_TENSOR_NCHW;
  const auto type = CUDNN_DATA_FLOAT;
  return first_failure(
      {cudnnSetTensor4dDescriptor(d.x, order, type, setup.n, setup.c, setup.h, setup.w),
       cudnnSetFilter4dDescriptor(d.f, type, order, setup.k, setup.c, setup.r, setup.s),
       cudnnSetConvolution2dDescriptor(d.how, setup.pad_h, setup.pad_w, setup.stride, setup.stride,
                                       1, 1, CUDNN_CROSS_CORRELATION, type),
       cudnnSetConvolutionMathType(d.how, CUDNN_FMA_MATH)});
  //~end
}

cudnnStatus_t size_output(const ConvDescriptors& d, int* n, int* k, int* p, int* q) {
  //~ // TODO(3): Who knows how large the result is? d.y must be set to that, where there is
  //~ // such a size.
  //~ static_cast<void>(d.x);
  //~ *n = *k = *p = *q = 1;
  //~ return CUDNN_STATUS_SUCCESS;
  //~begin 3
  const cudnnStatus_t status = cudnnGetConvolution2dForwardOutputDim(d.how, d.x, d.f, n, k, p, q);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  return cudnnSetTensor4dDescriptor(d.y, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, *n, *k, *p, *q);
  //~end
}

cudnnStatus_t choose_algorithm(cudnnHandle_t handle, const ConvDescriptors& d, size_t limit,
                               cudnnConvolutionFwdAlgoPerf_t* chosen) {
  //~ // TODO(4): Of the algorithms that the heuristic lists
  //~ // (cudnnGetConvolutionForwardAlgorithm_v7), take the first that works here with at most
  //~ // `limit` bytes.
  //~ static_cast<void>(handle), static_cast<void>(d.x), static_cast<void>(limit);
  //~ *chosen = {};
  //~ return CUDNN_STATUS_SUCCESS;
  //~begin 4
  constexpr int kMost = CUDNN_CONVOLUTION_FWD_ALGO_COUNT;
  cudnnConvolutionFwdAlgoPerf_t found[kMost];
  int count = 0;
  const cudnnStatus_t status =
      cudnnGetConvolutionForwardAlgorithm_v7(handle, d.x, d.f, d.how, d.y, kMost, &count, found);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  for (int i = 0; i < count; ++i) {
    if (found[i].status == CUDNN_STATUS_SUCCESS && found[i].memory <= limit) {
      *chosen = found[i];
      return CUDNN_STATUS_SUCCESS;
    }
  }
  return CUDNN_STATUS_NOT_SUPPORTED;
  //~end
}

cudnnStatus_t launch_conv(cudnnHandle_t handle, const ConvDescriptors& d,
                          const cudnnConvolutionFwdAlgoPerf_t& chosen, const float* d_x,
                          const float* d_f, void* d_workspace, float* d_y) {
  //~ // TODO(5): y is x filtered by f, by what was chosen. What y held before does not
  //~ // matter.
  //~ static_cast<void>(handle), static_cast<void>(d.x), static_cast<void>(chosen.algo);
  //~ static_cast<void>(d_x), static_cast<void>(d_f), static_cast<void>(d_workspace);
  //~ static_cast<void>(d_y);
  //~ return CUDNN_STATUS_SUCCESS;
  //~begin 5
  const float one = 1, zero = 0;
  return cudnnConvolutionForward(handle, &one, d.x, d_x, d.f, d_f, d.how, chosen.algo, d_workspace,
                                 chosen.memory, &zero, d.y, d_y);
  //~end
}
