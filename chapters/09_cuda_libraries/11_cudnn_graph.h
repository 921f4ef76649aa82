// 09/11 A cuDNN graph: what the test calls.
#ifndef CHAPTERS_09_CUDA_LIBRARIES_11_CUDNN_GRAPH_H_
#define CHAPTERS_09_CUDA_LIBRARIES_11_CUDNN_GRAPH_H_

#include <cuda_fp16.h>
#include <cudnn.h>

#include "11_cudnn_graph_support.h"

// A layer of stride 1 with zeros around every image. Halves, channels last: in memory the channel
// is the fastest index, as tensor cores want it.
//   x     n x h x w x c,  f  k x r x s x c,  y  n x p x q x k
//   bias  k: one for each channel of the result
// c and k are multiples of 8, and all arrays begin at multiples of 16 bytes.
struct FusedLayer {
  int n, c, h, w;
  int k, r, s;
  int pad;
  int p() const { return h + 2 * pad - r + 1; }
  int q() const { return w + 2 * pad - s + 1; }
};

// Describes y = max(0, (x filtered by f) + bias) as one graph, with sums in float, and compiles it:
// conv->plan and conv->workspace. Returns the first status that is no success, or
// CUDNN_STATUS_NOT_SUPPORTED if no engine takes the graph.
cudnnStatus_t build_fused_conv(const FusedLayer& layer, CompiledGraph* conv);

// Runs the plan on these arrays, in the stream of the graph's handle. d_workspace: conv.workspace
// bytes. All in device memory. Does not wait.
cudnnStatus_t launch_fused_conv(const CompiledGraph& conv, const __half* d_x, const __half* d_f,
                                const __half* d_bias, void* d_workspace, __half* d_y);

#endif  // CHAPTERS_09_CUDA_LIBRARIES_11_CUDNN_GRAPH_H_
