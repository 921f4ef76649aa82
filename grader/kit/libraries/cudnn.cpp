// cuDNN.
#include <cudnn.h>

#include "kit/libraries/entry_points.h"

namespace {

const char* text(cudnnStatus_t status) {
  return status == CUDNN_STATUS_SUCCESS ? nullptr : cudnnGetErrorString(status);
}

// A handle and a tensor descriptor for the whole program.
struct Objects {
  cudnnHandle_t handle = nullptr;
  cudnnTensorDescriptor_t tensor = nullptr;
  cudnnStatus_t status = cudnnCreate(&handle);
  Objects() {
    if (status == CUDNN_STATUS_SUCCESS) status = cudnnCreateTensorDescriptor(&tensor);
  }
};
Objects& objects() {
  static Objects made;
  return made;
}

}  // namespace

const char* warplings_cudnn_softmax(const float* in, float* out, int rows, int cols) {
  Objects& o = objects();
  if (o.status != CUDNN_STATUS_SUCCESS) return text(o.status);
  const cudnnStatus_t status =
      cudnnSetTensor4dDescriptor(o.tensor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, rows, cols, 1, 1);
  if (status != CUDNN_STATUS_SUCCESS) return text(status);
  const float one = 1, zero = 0;
  return text(cudnnSoftmaxForward(o.handle, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_INSTANCE,
                                  &one, o.tensor, in, &zero, o.tensor, out));
}
