// 09/18 cuDNN, three mistakes: what the test calls.
#ifndef CHAPTERS_09_CUDA_LIBRARIES_18_CUDNN_MISTAKES_H_
#define CHAPTERS_09_CUDA_LIBRARIES_18_CUDNN_MISTAKES_H_

#include <cuda_fp16.h>
#include <cudnn.h>

#include <cstddef>
#include <cstdint>

#include "18_cudnn_mistakes_support.h"

// A layer with zeros around every image. Halves, channels last; c and k are multiples of 8, and
// stride is at least 1.
//   x  n x h x w x c,  f  k x r x s x c,  y  n x rows x columns x k
struct StridedLayer {
  int n, c, h, w;
  int k, r, s;
  int pad_h, pad_w;  // rows of zeros above and below, columns on both sides
  int stride;        // of the filter, down and across
};

// Which configuration of the heuristic's list was taken, counted from 0, and what its plan needs.
struct UsedPlan {
  int number = -1;
  int64_t workspace = 0;  // bytes
};

// y = x filtered by f (which is not turned), with sums in float, by a graph of one operation. d_y
// has room for the result of that layer, d_workspace for `bytes`; arrays begin at multiples of 16
// bytes. *used: of the configurations that cuDNN's heuristic of mode A lists, the first of which a
// plan can be made that needs at most `bytes`; CUDNN_STATUS_NOT_SUPPORTED if there is none. Returns
// the first status that is no success; there is no result then, and no call is made behind it. That
// no plan can be made of some configuration is no such status. Does not wait.
cudnnStatus_t run_layer(cudnnHandle_t handle, const StridedLayer& layer, const __half* d_x,
                        const __half* d_f, void* d_workspace, size_t bytes, __half* d_y,
                        UsedPlan* used);

#endif  // CHAPTERS_09_CUDA_LIBRARIES_18_CUDNN_MISTAKES_H_
