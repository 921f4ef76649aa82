// Given to the cuDNN exercises from 08 on: descriptors that are destroyed with their scope, and the
// first status of several that is no success.
#ifndef CHAPTERS_09_CUDA_LIBRARIES_08_CUDNN_CONV_SUPPORT_H_
#define CHAPTERS_09_CUDA_LIBRARIES_08_CUDNN_CONV_SUPPORT_H_

#include <cudnn.h>

#include <initializer_list>

// Passes as the descriptor that it holds. Made with its scope; the statuses of making and
// destroying are left out, because neither depends on anything that a program says.
template <class T, cudnnStatus_t (*create)(T*), cudnnStatus_t (*destroy)(T)>
class Descriptor {
 public:
  Descriptor() { create(&held_); }
  ~Descriptor() { destroy(held_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  operator T() const { return held_; }  // NOLINT: stands for what it holds

 private:
  T held_ = nullptr;
};

using TensorDescriptor =
    Descriptor<cudnnTensorDescriptor_t, cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor>;
using FilterDescriptor =
    Descriptor<cudnnFilterDescriptor_t, cudnnCreateFilterDescriptor, cudnnDestroyFilterDescriptor>;
using ConvolutionDescriptor =
    Descriptor<cudnnConvolutionDescriptor_t, cudnnCreateConvolutionDescriptor,
               cudnnDestroyConvolutionDescriptor>;
using PoolingDescriptor = Descriptor<cudnnPoolingDescriptor_t, cudnnCreatePoolingDescriptor,
                                     cudnnDestroyPoolingDescriptor>;

// A convolution, said in descriptors: y = x filtered by f, in the way of `how`.
struct ConvDescriptors {
  TensorDescriptor x, y;
  FilterDescriptor f;
  ConvolutionDescriptor how;
};

// The first that is no success. In braces the calls are made from left to right, all of them.
inline cudnnStatus_t first_failure(std::initializer_list<cudnnStatus_t> statuses) {
  for (const cudnnStatus_t status : statuses) {
    if (status != CUDNN_STATUS_SUCCESS) return status;
  }
  return CUDNN_STATUS_SUCCESS;
}

#endif  // CHAPTERS_09_CUDA_LIBRARIES_08_CUDNN_CONV_SUPPORT_H_
