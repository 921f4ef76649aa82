// 09/10 cuDNN, the layers around a convolution: what the test calls.
#ifndef CHAPTERS_09_CUDA_LIBRARIES_10_CUDNN_POOL_SOFTMAX_BN_H_
#define CHAPTERS_09_CUDA_LIBRARIES_10_CUDNN_POOL_SOFTMAX_BN_H_

#include <cudnn.h>

// n images of c channels, h rows and w columns of floats, in device memory, NCHW without gaps.
// All functions return the first status that is no success, and none waits.
struct BatchSizes {
  int n, c, h, w;
};

// y = the largest value of each window x window square of x, NaN where there is one; the squares
// are `stride` apart and begin `pad` rows and columns outside of the image, where there is nothing
// to be the largest. *rows, *cols: the size of an image of y.
cudnnStatus_t launch_max_pool(cudnnHandle_t handle, const BatchSizes& s, int window, int pad,
                              int stride, const float* d_x, float* d_y, int* rows, int* cols);

// Over what a softmax adds up to 1: all values of an image, or the channels of each pixel.
enum class SoftmaxOver { kImage, kChannels };

// y = softmax of x. Finite for any finite x.
cudnnStatus_t launch_softmax(cudnnHandle_t handle, const BatchSizes& s, SoftmaxOver over,
                             const float* d_x, float* d_y);

constexpr double kEpsilon = 1e-5;  // under the root of a batch norm

// One float for each channel, in device memory.
struct BatchNorm {
  const float *scale, *bias;
  float *running_mean, *running_variance;  // over all batches so far
  float *saved_mean, *saved_inverse;       // of the last batch, for its gradients
};

// Training: y = scale * (x - mean) / sqrt(variance + epsilon) + bias, with mean and (biased)
// variance of each channel over all images and pixels of this batch. They are saved, the latter as
// 1 / sqrt(variance + epsilon), and the running values become `share` of the batch's and 1 - share
// of what they were.
cudnnStatus_t launch_bn_training(cudnnHandle_t handle, const BatchSizes& s, const BatchNorm& bn,
                                 double share, const float* d_x, float* d_y);

// Use: the same formula with the running values instead of the batch's.
cudnnStatus_t launch_bn_inference(cudnnHandle_t handle, const BatchSizes& s, const BatchNorm& bn,
                                  const float* d_x, float* d_y);

#endif  // CHAPTERS_09_CUDA_LIBRARIES_10_CUDNN_POOL_SOFTMAX_BN_H_
