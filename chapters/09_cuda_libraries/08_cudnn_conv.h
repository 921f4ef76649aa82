// 09/08 cuDNN, convolution: what the test calls, and the sizes of a layer for 09.
#ifndef CHAPTERS_09_CUDA_LIBRARIES_08_CUDNN_CONV_H_
#define CHAPTERS_09_CUDA_LIBRARIES_08_CUDNN_CONV_H_

#include <cudnn.h>

#include <cstddef>

#include "08_cudnn_conv_support.h"

// Letters as in cuDNN's documentation. In memory the last index is the fastest.
//   x  n x c x h x w: n images of c channels, h rows, w columns (NCHW)
//   f  k x c x r x s: k filters, each with r x s weights for every channel
//   y  n x k x p x q: filter k makes channel k of the result
struct ConvSetup {
  int n, c, h, w;
  int k, r, s;
  int pad_h, pad_w;  // rows of zeros above and below, columns on both sides
  int stride;        // of the filter, down and across
};

// flat = the image x of c channels, h rows and w columns, in the order of NCHW. x[channel][row] is
// the address of a row of w floats; all in host memory.
void flatten(const float* const* const* x, int c, int h, int w, float* flat);

// Sets d.x, d.f and d.how to this layer: a cross-correlation (the filter is not turned), dilation
// 1, one group, in full fp32 precision. Returns the first status that is no success.
cudnnStatus_t describe_conv(const ConvSetup& setup, const ConvDescriptors& d);

// Asks how large the result of d.x, d.f and d.how is, writes its sizes, and sets d.y to them.
// Returns the first status that is no success.
cudnnStatus_t size_output(const ConvDescriptors& d, int* n, int* k, int* p, int* q);

// *chosen = the first algorithm of cuDNN's heuristic list that works here and takes at most
// `limit` bytes of workspace. CUDNN_STATUS_NOT_SUPPORTED if there is none.
cudnnStatus_t choose_algorithm(cudnnHandle_t handle, const ConvDescriptors& d, size_t limit,
                               cudnnConvolutionFwdAlgoPerf_t* chosen);

// y = x filtered by f, by the chosen algorithm; d_workspace: chosen.memory bytes. All in device
// memory. Does not wait. Returns what cuDNN returned.
cudnnStatus_t launch_conv(cudnnHandle_t handle, const ConvDescriptors& d,
                          const cudnnConvolutionFwdAlgoPerf_t& chosen, const float* d_x,
                          const float* d_f, void* d_workspace, float* d_y);

#endif  // CHAPTERS_09_CUDA_LIBRARIES_08_CUDNN_CONV_H_
