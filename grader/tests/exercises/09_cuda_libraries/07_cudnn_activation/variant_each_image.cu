// Descriptors with any number of dimensions, a holder that destroys them, and one call for the
// channels of each image.
#include "07_cudnn_activation.h"

namespace {

struct Held {
  cudnnTensorDescriptor_t tensor = nullptr;
  ~Held() {
    if (tensor != nullptr) cudnnDestroyTensorDescriptor(tensor);
  }
};

}  // namespace

cudnnStatus_t describe_tensor(const TensorSizes& s, cudnnTensorDescriptor_t* tensor) {
  Held held;
  *tensor = nullptr;
  const cudnnStatus_t made = cudnnCreateTensorDescriptor(&held.tensor);
  if (made != CUDNN_STATUS_SUCCESS) return made;
  const int sizes[] = {s.n, s.c, s.h, s.w};
  const int strides[] = {s.c * s.h * s.w, s.h * s.w, s.w, 1};
  const cudnnStatus_t set =
      cudnnSetTensorNdDescriptor(held.tensor, CUDNN_DATA_FLOAT, 4, sizes, strides);
  if (set != CUDNN_STATUS_SUCCESS) return set;
  *tensor = held.tensor;
  held.tensor = nullptr;  // the caller's now
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t describe_tanh(cudnnActivationDescriptor_t* activation) {
  const cudnnStatus_t made = cudnnCreateActivationDescriptor(activation);
  if (made != CUDNN_STATUS_SUCCESS) return made;
  return cudnnSetActivationDescriptor(*activation, CUDNN_ACTIVATION_TANH, CUDNN_NOT_PROPAGATE_NAN,
                                      1);
}

cudnnStatus_t launch_tanh(cudnnHandle_t handle, cudnnActivationDescriptor_t activation,
                          cudnnTensorDescriptor_t tensor, float alpha, const float* d_x, float beta,
                          float* d_y) {
  const float scale = alpha, keep = beta;
  return cudnnActivationForward(handle, activation, &scale, tensor, d_x, &keep, tensor, d_y);
}

cudnnStatus_t launch_tanh_channels(cudnnHandle_t handle, cudnnActivationDescriptor_t activation,
                                   const TensorSizes& s, int first, int count, float* d_x) {
  const float one = 1, zero = 0;
  Held held;
  cudnnStatus_t status = cudnnCreateTensorDescriptor(&held.tensor);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  status = cudnnSetTensor4dDescriptor(held.tensor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, count,
                                      s.h, s.w);
  const size_t plane = static_cast<size_t>(s.h) * s.w;
  for (int image = 0; image < s.n && status == CUDNN_STATUS_SUCCESS; ++image) {
    float* begin = d_x + (static_cast<size_t>(image) * s.c + first) * plane;
    status = cudnnActivationForward(handle, activation, &one, held.tensor, begin, &zero,
                                    held.tensor, begin);
  }
  return status;
}
