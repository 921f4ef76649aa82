// 09/07 cuDNN, activation: what the test calls.
#ifndef CHAPTERS_09_CUDA_LIBRARIES_07_CUDNN_ACTIVATION_H_
#define CHAPTERS_09_CUDA_LIBRARIES_07_CUDNN_ACTIVATION_H_

#include <cudnn.h>

// n images of c channels, h rows and w columns. In memory the last index is the fastest: NCHW.
struct TensorSizes {
  int n, c, h, w;
};

// *tensor: a new descriptor of a tensor of floats with these sizes, NCHW and without gaps. The
// caller destroys it. If the sizes are refused: nullptr, and the status of the refusal.
cudnnStatus_t describe_tensor(const TensorSizes& s, cudnnTensorDescriptor_t* tensor);

// *activation: a new descriptor of the hyperbolic tangent. The caller destroys it.
cudnnStatus_t describe_tanh(cudnnActivationDescriptor_t* activation);

// y = alpha tanh(x) + beta y, element by element, as work of the handle's stream, if `activation`
// is a tanh. d_x and d_y in device memory, both as `tensor` says; they may be the same array. Does
// not wait. Returns what cuDNN returned.
cudnnStatus_t launch_tanh(cudnnHandle_t handle, cudnnActivationDescriptor_t activation,
                          cudnnTensorDescriptor_t tensor, float alpha, const float* d_x, float beta,
                          float* d_y);

// Channels first to first + count - 1 of each image of x become their tanh, in place; all other
// channels stay. d_x: sizes as in s, NCHW. 0 <= first, 1 <= count, first + count <= s.c. Does not
// wait, and leaves no descriptor behind. Returns the first status that is no success.
cudnnStatus_t launch_tanh_channels(cudnnHandle_t handle, cudnnActivationDescriptor_t activation,
                                   const TensorSizes& s, int first, int count, float* d_x);

#endif  // CHAPTERS_09_CUDA_LIBRARIES_07_CUDNN_ACTIVATION_H_
