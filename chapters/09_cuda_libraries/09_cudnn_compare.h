// 09/09 cuDNN, compared: what the test calls.
#ifndef CHAPTERS_09_CUDA_LIBRARIES_09_CUDNN_COMPARE_H_
#define CHAPTERS_09_CUDA_LIBRARIES_09_CUDNN_COMPARE_H_

#include <cudnn.h>

#include <cstddef>
#include <functional>
#include <vector>

#include "09_cudnn_compare_support.h"

// The median of the time that `work` takes on the default stream, in milliseconds, over `calls`
// calls (an odd number). One call before them is not timed: it loads kernels and fills caches.
float median_milliseconds(const std::function<void()>& work, int calls);

// |got - want| / |want| with the lengths of vectors (the root of the sum of squares), in double.
double relative_difference(const std::vector<float>& got, const std::vector<float>& want);

// The first row: `yours`, which queues your convolution of x and f to y on the default stream. Then
// a row for each forward algorithm of cuDNN, in the order of its numbers, with the status that
// cuDNN gives for it. d_x, d_f and d_y in device memory, described by d; y has `count` floats and
// is overwritten. Every workspace is freed. The handle is in the default stream.
std::vector<CompareRow> compare_algorithms(cudnnHandle_t handle, const ConvDescriptors& d,
                                           const float* d_x, const float* d_f, float* d_y,
                                           size_t count, const std::function<void()>& yours,
                                           int calls);

#endif  // CHAPTERS_09_CUDA_LIBRARIES_09_CUDNN_COMPARE_H_
