// Given to 09/18: how filters move, as you have described it in 08.
#ifndef CHAPTERS_09_CUDA_LIBRARIES_18_CUDNN_MISTAKES_SUPPORT_H_
#define CHAPTERS_09_CUDA_LIBRARIES_18_CUDNN_MISTAKES_SUPPORT_H_

#include <cudnn.h>

#include <cstdint>

#include "08_cudnn_conv_support.h"

// Filters that are not turned, with rows of zeros above and below and columns on both sides; sums
// in float.
inline cudnnBackendDescriptor_t movement(CudnnGraph& graph, int64_t pad_h, int64_t pad_w,
                                         int64_t stride) {
  const cudnnBackendDescriptor_t how = graph.make(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  graph.set(how, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, {int64_t{2}});
  graph.set(how, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT);
  graph.set(how, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION);
  graph.set(how, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, {pad_h, pad_w});
  graph.set(how, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, {pad_h, pad_w});
  graph.set(how, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, {stride, stride});
  graph.set(how, CUDNN_ATTR_CONVOLUTION_DILATIONS, {int64_t{1}, int64_t{1}});
  return graph.finish(how);
}

#endif  // CHAPTERS_09_CUDA_LIBRARIES_18_CUDNN_MISTAKES_SUPPORT_H_
