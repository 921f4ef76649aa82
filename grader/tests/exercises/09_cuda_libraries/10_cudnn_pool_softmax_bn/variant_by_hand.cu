// Sizes by hand, one descriptor for the values of a group whatever it is, statistics described as
// 1 x c x 1 x 1, and everything destroyed at the end of its function.
#include "10_cudnn_pool_softmax_bn.h"

namespace {

const float one = 1, zero = 0;

struct Tensor {
  cudnnTensorDescriptor_t descriptor = nullptr;
  cudnnStatus_t status;
  Tensor(int n, int c, int h, int w) {
    status = cudnnCreateTensorDescriptor(&descriptor);
    if (status == CUDNN_STATUS_SUCCESS) {
      status = cudnnSetTensor4dDescriptorEx(descriptor, CUDNN_DATA_FLOAT, n, c, h, w, c * h * w,
                                            h * w, w, 1);
    }
  }
  ~Tensor() { cudnnDestroyTensorDescriptor(descriptor); }
};

}  // namespace

cudnnStatus_t launch_max_pool(cudnnHandle_t handle, const BatchSizes& s, int window, int pad,
                              int stride, const float* d_x, float* d_y, int* rows, int* cols) {
  *rows = (s.h + 2 * pad - window) / stride + 1;
  *cols = (s.w + 2 * pad - window) / stride + 1;
  const Tensor x(s.n, s.c, s.h, s.w), y(s.n, s.c, *rows, *cols);
  if (x.status != CUDNN_STATUS_SUCCESS) return x.status;
  if (y.status != CUDNN_STATUS_SUCCESS) return y.status;
  cudnnPoolingDescriptor_t how = nullptr;
  cudnnStatus_t status = cudnnCreatePoolingDescriptor(&how);
  if (status == CUDNN_STATUS_SUCCESS) {
    status = cudnnSetPooling2dDescriptor(how, CUDNN_POOLING_MAX_DETERMINISTIC, CUDNN_PROPAGATE_NAN,
                                         window, window, pad, pad, stride, stride);
  }
  if (status == CUDNN_STATUS_SUCCESS) {
    status = cudnnPoolingForward(handle, how, &one, x.descriptor, d_x, &zero, y.descriptor, d_y);
  }
  cudnnDestroyPoolingDescriptor(how);
  return status;
}

cudnnStatus_t launch_softmax(cudnnHandle_t handle, const BatchSizes& s, SoftmaxOver over,
                             const float* d_x, float* d_y) {
  // An image as one pixel with c h w channels: then both are sums over channels.
  const bool whole = over == SoftmaxOver::kImage;
  const Tensor tensor(s.n, whole ? s.c * s.h * s.w : s.c, whole ? 1 : s.h, whole ? 1 : s.w);
  if (tensor.status != CUDNN_STATUS_SUCCESS) return tensor.status;
  return cudnnSoftmaxForward(handle, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_CHANNEL, &one,
                             tensor.descriptor, d_x, &zero, tensor.descriptor, d_y);
}

cudnnStatus_t launch_bn_training(cudnnHandle_t handle, const BatchSizes& s, const BatchNorm& bn,
                                 double share, const float* d_x, float* d_y) {
  const Tensor tensor(s.n, s.c, s.h, s.w), channels(1, s.c, 1, 1);
  if (tensor.status != CUDNN_STATUS_SUCCESS) return tensor.status;
  return cudnnBatchNormalizationForwardTraining(
      handle, CUDNN_BATCHNORM_SPATIAL, &one, &zero, tensor.descriptor, d_x, tensor.descriptor, d_y,
      channels.descriptor, bn.scale, bn.bias, share, bn.running_mean, bn.running_variance, kEpsilon,
      bn.saved_mean, bn.saved_inverse);
}

cudnnStatus_t launch_bn_inference(cudnnHandle_t handle, const BatchSizes& s, const BatchNorm& bn,
                                  const float* d_x, float* d_y) {
  const Tensor tensor(s.n, s.c, s.h, s.w), channels(1, s.c, 1, 1);
  if (tensor.status != CUDNN_STATUS_SUCCESS) return tensor.status;
  return cudnnBatchNormalizationForwardInference(
      handle, CUDNN_BATCHNORM_SPATIAL, &one, &zero, tensor.descriptor, d_x, tensor.descriptor, d_y,
      channels.descriptor, bn.scale, bn.bias, bn.running_mean, bn.running_variance, kEpsilon);
}
