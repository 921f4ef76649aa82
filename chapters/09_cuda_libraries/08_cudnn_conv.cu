// 09/08 cuDNN, convolution: a tensor in the right order, descriptors, the size of the result, an
// algorithm with its workspace, and the call.
//   x, f, y  tensors of floats as in 08_cudnn_conv.h, NCHW
//   TODOs  5
#include "08_cudnn_conv.h"

void flatten(const float* const* const* x, int c, int h, int w, float* flat) {
  // TODO(1): Put each element where NCHW has it. An image of 4 channels of 2 x 3 has
  // x[1][0][2] at 8.
  for (int i = 0; i < c * h * w; ++i) flat[i] = x[0][0][0];
}

cudnnStatus_t describe_conv(const ConvSetup& setup, const ConvDescriptors& d) {
  // TODO(2): Describe x, the filters, and how it is done. Nothing may be multiplied with
  // fewer digits than a float has, and the first refusal is returned.
  static_cast<void>(setup.n), static_cast<void>(d.x);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t size_output(const ConvDescriptors& d, int* n, int* k, int* p, int* q) {
  // TODO(3): Who knows how large the result is? d.y must be set to that, where there is
  // such a size.
  static_cast<void>(d.x);
  *n = *k = *p = *q = 1;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t choose_algorithm(cudnnHandle_t handle, const ConvDescriptors& d, size_t limit,
                               cudnnConvolutionFwdAlgoPerf_t* chosen) {
  // TODO(4): Of the algorithms that the heuristic lists
  // (cudnnGetConvolutionForwardAlgorithm_v7), take the first that works here with at most
  // `limit` bytes.
  static_cast<void>(handle), static_cast<void>(d.x), static_cast<void>(limit);
  *chosen = {};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t launch_conv(cudnnHandle_t handle, const ConvDescriptors& d,
                          const cudnnConvolutionFwdAlgoPerf_t& chosen, const float* d_x,
                          const float* d_f, void* d_workspace, float* d_y) {
  // TODO(5): y is x filtered by f, by what was chosen. What y held before does not
  // matter.
  static_cast<void>(handle), static_cast<void>(d.x), static_cast<void>(chosen.algo);
  static_cast<void>(d_x), static_cast<void>(d_f), static_cast<void>(d_workspace);
  static_cast<void>(d_y);
  return CUDNN_STATUS_SUCCESS;
}
