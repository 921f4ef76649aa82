// 09/07 cuDNN, activation: a tensor and an operation, each told to the library by a descriptor.
//   x, y  n x c x h x w floats in device memory, NCHW: the last index is the fastest
//   A descriptor is made empty, set, passed to calls, and destroyed by whoever made it. It says
//   what an array means; it holds no array.
//   TODOs  4
#include "07_cudnn_activation.h"

cudnnStatus_t describe_tensor(const TensorSizes& s, cudnnTensorDescriptor_t* tensor) {
  //~ // TODO(1): *tensor must describe these sizes: NCHW, floats, no gaps. Where they are
  //~ // refused, nothing is left: no descriptor, but nullptr, and the status of the refusal.
  //~ static_cast<void>(s.n);
  //~ *tensor = nullptr;
  //~ return CUDNN_STATUS_SUCCESS;
  //~begin 1
  *tensor = nullptr;
  cudnnStatus_t status = cudnnCreateTensorDescriptor(tensor);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  status =
      cudnnSetTensor4dDescriptor(*tensor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, s.n, s.c, s.h, s.w);
  if (status != CUDNN_STATUS_SUCCESS) {
    cudnnDestroyTensorDescriptor(*tensor);
    *tensor = nullptr;
  }
  return status;
  //~end
}

cudnnStatus_t describe_tanh(cudnnActivationDescriptor_t* activation) {
  //~ // TODO(2): *activation must be a new descriptor of the hyperbolic tangent.
  //~ return cudnnCreateActivationDescriptor(activation);
  //~begin 2
  const cudnnStatus_t status = cudnnCreateActivationDescriptor(activation);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  return cudnnSetActivationDescriptor(*activation, CUDNN_ACTIVATION_TANH, CUDNN_PROPAGATE_NAN, 0);
  //~end
}

cudnnStatus_t launch_tanh(cudnnHandle_t handle, cudnnActivationDescriptor_t activation,
                          cudnnTensorDescriptor_t tensor, float alpha, const float* d_x, float beta,
                          float* d_y) {
  //~ // TODO(3): y = alpha tanh(x) + beta y. One descriptor may stand for two arrays.
  //~ static_cast<void>(handle), static_cast<void>(activation), static_cast<void>(tensor);
  //~ static_cast<void>(alpha), static_cast<void>(d_x), static_cast<void>(beta);
  //~ return d_y == nullptr ? CUDNN_STATUS_BAD_PARAM : CUDNN_STATUS_SUCCESS;
  //~begin 3
  return cudnnActivationForward(handle, activation, &alpha, tensor, d_x, &beta, tensor, d_y);
  //~end
}

cudnnStatus_t launch_tanh_channels(cudnnHandle_t handle, cudnnActivationDescriptor_t activation,
                                   const TensorSizes& s, int first, int count, float* d_x) {
  //~ // TODO(4): `count` channels of every image become their tanh, in place and by one call;
  //~ // the others stay. What differs between a part of a tensor and a tensor of that size?
  //~ // No descriptor is left behind, also where cuDNN refuses.
  //~ static_cast<void>(handle), static_cast<void>(activation), static_cast<void>(s.n);
  //~ static_cast<void>(first + count), static_cast<void>(d_x);
  //~ return CUDNN_STATUS_SUCCESS;
  //~begin 4
  const float one = 1, zero = 0;
  const int plane = s.h * s.w;  // elements of a channel
  float* const begin = d_x + static_cast<size_t>(first) * plane;
  cudnnTensorDescriptor_t part = nullptr;
  cudnnStatus_t status = cudnnCreateTensorDescriptor(&part);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  status = cudnnSetTensor4dDescriptorEx(part, CUDNN_DATA_FLOAT, s.n, count, s.h, s.w, s.c * plane,
                                        plane, s.w, 1);
  if (status == CUDNN_STATUS_SUCCESS) {
    status = cudnnActivationForward(handle, activation, &one, part, begin, &zero, part, begin);
  }
  cudnnDestroyTensorDescriptor(part);  // read by the call, which has returned
  return status;
  //~end
}
