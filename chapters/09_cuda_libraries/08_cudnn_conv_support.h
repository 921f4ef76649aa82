// Given to the exercises with cuDNN graphs from 09/08 on: a tensor as you have described it in 07.
#ifndef CHAPTERS_09_CUDA_LIBRARIES_08_CUDNN_CONV_SUPPORT_H_
#define CHAPTERS_09_CUDA_LIBRARIES_08_CUDNN_CONV_SUPPORT_H_

#include <cudnn.h>

#include <cstdint>

#include "07_cudnn_activation_support.h"

// Sizes in cuDNN's order (images, channels, rows, columns), stored with the channels last. An array
// of halves that begins at a multiple of 16 bytes. One that is virtual holds floats, and no array
// is behind it: it is a name for what one operation hands to the next.
inline cudnnBackendDescriptor_t channels_last(CudnnGraph& graph, int64_t name, int64_t images,
                                              int64_t channels, int64_t rows, int64_t cols,
                                              bool is_virtual = false) {
  const cudnnBackendDescriptor_t node = graph.make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  graph.set(node, CUDNN_ATTR_TENSOR_UNIQUE_ID, {name});
  graph.set(node, CUDNN_ATTR_TENSOR_DATA_TYPE, is_virtual ? CUDNN_DATA_FLOAT : CUDNN_DATA_HALF);
  graph.set(node, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {int64_t{16}});
  graph.set(node, CUDNN_ATTR_TENSOR_IS_VIRTUAL, is_virtual);
  graph.set(node, CUDNN_ATTR_TENSOR_DIMENSIONS, {images, channels, rows, cols});
  graph.set(node, CUDNN_ATTR_TENSOR_STRIDES,
            {rows * cols * channels, 1, cols * channels, channels});
  return graph.finish(node);
}

#endif  // CHAPTERS_09_CUDA_LIBRARIES_08_CUDNN_CONV_SUPPORT_H_
