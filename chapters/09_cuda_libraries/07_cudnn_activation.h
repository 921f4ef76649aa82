// 09/07 cuDNN, activation: what the test calls.
#ifndef CHAPTERS_09_CUDA_LIBRARIES_07_CUDNN_ACTIVATION_H_
#define CHAPTERS_09_CUDA_LIBRARIES_07_CUDNN_ACTIVATION_H_

#include <cuda_fp16.h>
#include <cudnn.h>

#include <cstdint>

#include "07_cudnn_activation_support.h"

// n images of c channels, h rows and w columns of halves, without gaps and with channels last: in
// memory the channels of a pixel are neighbours, then come the pixels of a row, the rows of an
// image, and the images. c is a multiple of 8.
struct TensorSizes {
  int64_t n, c, h, w;
};

// The names of the two tensors.
enum : int64_t { kX = 'x', kY = 'y' };

// *tensor: a new, finished descriptor of an array of these sizes, which begins at a multiple of 16
// bytes and goes by this name. The caller destroys it. If cuDNN refuses anything: nullptr, nothing
// is left behind, and the first status that is no success is returned.
cudnnStatus_t describe_tensor(int64_t name, const TensorSizes& s, cudnnBackendDescriptor_t* tensor);

// A finished graph of one operation: kY is the hyperbolic tangent of kX, element by element,
// computed in floats. All of its descriptors belong to `graph`.
cudnnBackendDescriptor_t describe_tanh(CudnnGraph& graph, const TensorSizes& s);

// tanh->plan: a plan of the first configuration of the heuristic of mode A of which one can be
// made; tanh->workspace: the bytes that it needs. Returns the first status that is no success, or
// CUDNN_STATUS_NOT_SUPPORTED if no configuration works; tanh->plan stays a nullptr then. That a
// plan of some configuration is refused when it is finalized is no such status.
cudnnStatus_t build_tanh(const TensorSizes& s, CompiledGraph* tanh);

// y = tanh(x) by this plan, as work of the stream of the graph's handle. d_x, d_y: arrays as
// described, in device memory; d_workspace: tanh.workspace bytes. Does not wait, and leaves no
// descriptor behind. Returns the first status that is no success.
cudnnStatus_t launch_tanh(const CompiledGraph& tanh, const __half* d_x, void* d_workspace,
                          __half* d_y);

#endif  // CHAPTERS_09_CUDA_LIBRARIES_07_CUDNN_ACTIVATION_H_
