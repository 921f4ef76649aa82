// 12/06 Convolution, forward: what the test calls, and 07 and 11.
#ifndef CHAPTERS_12_MNIST_CNN_06_CONV_FORWARD_H_
#define CHAPTERS_12_MNIST_CNN_06_CONV_FORWARD_H_

// 3 x 3 filters, padding 1, no bias; floats in device memory, last index fastest.
//   y[n][k][row][col] = sum over c, r, s of w[k][c][r][s] x[n][c][row + r - 1][col + s - 1]
//   d_x  n x c x h x w, zeros around it;  d_w  k x c x 3 x 3;  d_y  n x k x h x w
// n >= 0, all other sizes at least 1, h and w at most 100, c and k at most 65,535; no array has
// 2^31 elements.
void launch_conv_forward(const float* d_x, const float* d_w, float* d_y, int n, int c, int h, int w,
                         int k);

#endif  // CHAPTERS_12_MNIST_CNN_06_CONV_FORWARD_H_
