// 09/10 cuDNN, the layers around a convolution: max pooling, softmax, and batch norm in training
// and in use.
//   x, y  n x c x h x w floats in device memory, NCHW (10_cudnn_pool_softmax_bn.h)
//   TODOs  4
#include "09_cudnn_compare_support.h"
#include "10_cudnn_pool_softmax_bn.h"

static const float kOne = 1, kZero = 0;  // y = 1 * result + 0 * y

static cudnnStatus_t describe(const BatchSizes& s, cudnnTensorDescriptor_t tensor) {
  return cudnnSetTensor4dDescriptor(tensor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, s.n, s.c, s.h,
                                    s.w);
}

cudnnStatus_t launch_max_pool(cudnnHandle_t handle, const BatchSizes& s, int window, int pad,
                              int stride, const float* d_x, float* d_y, int* rows, int* cols) {
  //~ // TODO(1): Pool x to y, and say how large y is. A NaN stays one, and what the library
  //~ // refuses is returned.
  //~ const TensorDescriptor x;
  //~ static_cast<void>(handle), static_cast<void>(window), static_cast<void>(pad);
  //~ static_cast<void>(stride), static_cast<void>(d_x), static_cast<void>(d_y);
  //~ *rows = *cols = 1;
  //~ return describe(s, x);
  //~begin 1
  const TensorDescriptor x, y;
  const PoolingDescriptor how;
  cudnnStatus_t status = describe(s, x);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  int n = 0, c = 0;
  const auto mode = CUDNN_POOLING_MAX;
  status = cudnnSetPooling2dDescriptor(how, mode, CUDNN_PROPAGATE_NAN, window, window, pad, pad,
                                       stride, stride);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  status = cudnnGetPooling2dForwardOutputDim(how, x, &n, &c, rows, cols);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  status = describe({n, c, *rows, *cols}, y);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  return cudnnPoolingForward(handle, how, &kOne, x, d_x, &kZero, y, d_y);
  //~end
}

cudnnStatus_t launch_softmax(cudnnHandle_t handle, const BatchSizes& s, SoftmaxOver over,
                             const float* d_x, float* d_y) {
  //~ // TODO(2): The softmax over what `over` says. Which algorithm is right for an x of
  //~ // 10,000?
  //~ const TensorDescriptor tensor;
  //~ static_cast<void>(over), static_cast<void>(describe(s, tensor));
  //~ return cudnnSoftmaxForward(handle, CUDNN_SOFTMAX_FAST, CUDNN_SOFTMAX_MODE_INSTANCE, &kOne,
  //~                            tensor, d_x, &kZero, tensor, d_y);
  //~begin 2
  const TensorDescriptor tensor;
  const cudnnStatus_t status = describe(s, tensor);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  const cudnnSoftmaxMode_t mode =
      over == SoftmaxOver::kImage ? CUDNN_SOFTMAX_MODE_INSTANCE : CUDNN_SOFTMAX_MODE_CHANNEL;
  return cudnnSoftmaxForward(handle, CUDNN_SOFTMAX_ACCURATE, mode, &kOne, tensor, d_x, &kZero,
                             tensor, d_y);
  //~end
}

cudnnStatus_t launch_bn_training(cudnnHandle_t handle, const BatchSizes& s, const BatchNorm& bn,
                                 double share, const float* d_x, float* d_y) {
  //~ // TODO(3): Normalise with the statistics of this batch over images and pixels; the
  //~ // running ones take their share, and the gradients will want the saved ones.
  //~ static_cast<void>(handle), static_cast<void>(s.n), static_cast<void>(bn.scale);
  //~ static_cast<void>(share), static_cast<void>(d_x), static_cast<void>(d_y);
  //~ return CUDNN_STATUS_NOT_INITIALIZED;
  //~begin 3
  const TensorDescriptor tensor, per_channel;
  cudnnStatus_t status = describe(s, tensor);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  status = cudnnDeriveBNTensorDescriptor(per_channel, tensor, CUDNN_BATCHNORM_SPATIAL);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  return cudnnBatchNormalizationForwardTraining(
      handle, CUDNN_BATCHNORM_SPATIAL, &kOne, &kZero, tensor, d_x, tensor, d_y, per_channel,
      bn.scale, bn.bias, share, bn.running_mean, bn.running_variance, kEpsilon, bn.saved_mean,
      bn.saved_inverse);
  //~end
}

cudnnStatus_t launch_bn_inference(cudnnHandle_t handle, const BatchSizes& s, const BatchNorm& bn,
                                  const float* d_x, float* d_y) {
  //~ // TODO(4): Normalise with what was kept from training: which two of the four arrays?
  //~ static_cast<void>(handle), static_cast<void>(s.n), static_cast<void>(bn.scale);
  //~ static_cast<void>(d_x), static_cast<void>(d_y);
  //~ return CUDNN_STATUS_NOT_INITIALIZED;
  //~begin 4
  const TensorDescriptor tensor, per_channel;
  const cudnnStatus_t status =
      first_failure({describe(s, tensor),
                     cudnnDeriveBNTensorDescriptor(per_channel, tensor, CUDNN_BATCHNORM_SPATIAL)});
  if (status != CUDNN_STATUS_SUCCESS) return status;
  return cudnnBatchNormalizationForwardInference(
      handle, CUDNN_BATCHNORM_SPATIAL, &kOne, &kZero, tensor, d_x, tensor, d_y, per_channel,
      bn.scale, bn.bias, bn.running_mean, bn.running_variance, kEpsilon);
  //~end
}
