// 09/08 cuDNN, convolution: what the test calls.
#ifndef CHAPTERS_09_CUDA_LIBRARIES_08_CUDNN_CONV_H_
#define CHAPTERS_09_CUDA_LIBRARIES_08_CUDNN_CONV_H_

#include <cuda_fp16.h>
#include <cudnn.h>

#include <cstdint>

#include "08_cudnn_conv_support.h"

// Letters as in cuDNN's documentation. In device memory all arrays are halves with channels last,
// as in 07; c and k are multiples of 8, and the arrays begin at multiples of 16 bytes.
//   x  n images of h x w pixels with c channels
//   f  k filters of r x s pixels with c channels
//   y  n images of p x q pixels with k channels: filter k makes channel k of the result
struct ConvSetup {
  int n, c, h, w;
  int k, r, s;
  int pad_h, pad_w;  // rows of zeros above and below, columns on both sides
  int stride;        // of the filter, down and across
};

// The names of the three tensors.
enum : int64_t { kX = 'x', kFilters = 'f', kY = 'y' };

// flat = the image x of c channels, h rows and w columns, with its channels last.
// x[channel][row] is the address of a row of w floats; all in host memory.
void flatten(const float* const* const* x, int c, int h, int w, float* flat);

// *p, *q: how many rows and columns the result has, of filters that fit into the image with its
// zeros at least once.
void size_output(const ConvSetup& setup, int* p, int* q);

// A finished graph of one operation: kY is kX filtered by kFilters, which are not turned, with sums
// in float. All of its descriptors belong to `graph`.
cudnnBackendDescriptor_t describe_conv(CudnnGraph& graph, const ConvSetup& setup);

// conv->plan: a plan of the first configuration of the heuristic of mode A of which one can be made
// that needs at most `limit` bytes; conv->workspace: what it needs. Returns the first status that
// is no success, or CUDNN_STATUS_NOT_SUPPORTED if there is no such configuration; conv->plan stays
// a nullptr then. That a plan of some configuration is refused when it is finalized is no such
// status.
cudnnStatus_t choose_plan(const ConvSetup& setup, int64_t limit, CompiledGraph* conv);

// y = x filtered by f, by this plan, as work of the stream of the graph's handle. d_workspace:
// conv.workspace bytes; all in device memory. Does not wait, and leaves no descriptor behind.
// Returns the first status that is no success.
cudnnStatus_t launch_conv(const CompiledGraph& conv, const __half* d_x, const __half* d_f,
                          void* d_workspace, __half* d_y);

#endif  // CHAPTERS_09_CUDA_LIBRARIES_08_CUDNN_CONV_H_
