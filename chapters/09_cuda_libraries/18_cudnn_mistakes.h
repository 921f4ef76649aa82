// 09/18 cuDNN, three mistakes: what the test calls.
#ifndef CHAPTERS_09_CUDA_LIBRARIES_18_CUDNN_MISTAKES_H_
#define CHAPTERS_09_CUDA_LIBRARIES_18_CUDNN_MISTAKES_H_

#include <cudnn.h>

#include <cstddef>

#include "08_cudnn_conv.h"

// y = x filtered by f, a layer as in 08_cudnn_conv.h. d_y has room for the result of that layer,
// d_workspace for `bytes`. *used: the entry of cuDNN's heuristic list that was taken, which is the
// first that works and needs at most `bytes`. Returns the first status that is no success; there is
// no result then, and no call is made behind it. Does not wait.
cudnnStatus_t run_layer(cudnnHandle_t handle, const ConvSetup& setup, const float* d_x,
                        const float* d_f, void* d_workspace, size_t bytes, float* d_y,
                        cudnnConvolutionFwdAlgoPerf_t* used);

#endif  // CHAPTERS_09_CUDA_LIBRARIES_18_CUDNN_MISTAKES_H_
