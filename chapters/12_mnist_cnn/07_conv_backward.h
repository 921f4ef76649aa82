// 12/07 Convolution, backward: what the test calls, and 11.
#ifndef CHAPTERS_12_MNIST_CNN_07_CONV_BACKWARD_H_
#define CHAPTERS_12_MNIST_CNN_07_CONV_BACKWARD_H_

#include <cstddef>

// Floats of scratch memory that launch_conv_backward needs.
size_t conv_backward_scratch(int n, int c, int k);

// The layer of 12/06 computes y from x and w; a loss follows. From dy, the derivative of the loss
// by every element of y, its derivative by every element of x and of w. Sizes and layout as there.
//   d_x, d_dx  n x c x h x w;  d_w, d_dw  k x c x 3 x 3;  d_dy  n x k x h x w
//   d_dx       may be null: the derivative by x is not wanted
//   d_scratch  conv_backward_scratch(n, c, k) floats; what they hold before does not matter
// n >= 0, all other sizes at least 1, h and w at most 100, c and k at most 65,535; no array has
// 2^31 elements, and all of them are finite. The same arrays give the same bits every time.
void launch_conv_backward(const float* d_x, const float* d_w, const float* d_dy, float* d_dx,
                          float* d_dw, float* d_scratch, int n, int c, int h, int w, int k);

#endif  // CHAPTERS_12_MNIST_CNN_07_CONV_BACKWARD_H_
