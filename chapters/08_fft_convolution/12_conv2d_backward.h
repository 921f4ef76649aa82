// 08/12 Conv2d, backward: what the test calls.
#ifndef CHAPTERS_08_FFT_CONVOLUTION_12_CONV2D_BACKWARD_H_
#define CHAPTERS_08_FFT_CONVOLUTION_12_CONV2D_BACKWARD_H_

#include "09_conv2d_nchw.h"

// The layer of 08/09 computes y from x and f; a loss L follows. From dy, the derivative of L by
// every element of y, these compute its derivative by every element of x, and of f. Same sizes as
// x, f and y, in device memory; layer.n >= 0, all other sizes, p() and q() at least 1; no array has
// 2^31 elements, and p() * q() is at most 2^30.
void launch_conv2d_grad_input(const float* d_dy, const float* d_f, float* d_dx,
                              const ConvLayer& layer);
void launch_conv2d_grad_filter(const float* d_dy, const float* d_x, float* d_df,
                               const ConvLayer& layer);

#endif  // CHAPTERS_08_FFT_CONVOLUTION_12_CONV2D_BACKWARD_H_
