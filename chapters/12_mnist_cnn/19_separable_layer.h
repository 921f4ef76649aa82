// 12/19 Separable layer: what the test calls.
#ifndef CHAPTERS_12_MNIST_CNN_19_SEPARABLE_LAYER_H_
#define CHAPTERS_12_MNIST_CNN_19_SEPARABLE_LAYER_H_

#include <cstddef>

// A filter of 3 x 3 for each channel, padding 1, then at every pixel a product over the channels:
//   z[n][c][row][col] = sum over r, s of f[c][r][s] x[n][c][row + r - 1][col + s - 1]
//   y[n][k][row][col] = sum over c of m[k][c] z[n][c][row][col]
// Floats in device memory, last index fastest:
//   d_x  n x c x h x w, zeros around it;  d_f  c x 3 x 3;  d_m  k x c;  d_y  n x k x h x w
// n >= 0, all other sizes at least 1, h and w at most 100, c and k at most 65,535; no array has
// 2^31 elements, and all of them are finite.
void launch_separable_forward(const float* d_x, const float* d_f, const float* d_m, float* d_y,
                              int n, int c, int h, int w, int k);

// Floats of scratch memory that the way back needs: at most 2 n c h w + 256 (9 c + k c).
size_t separable_scratch(int n, int c, int h, int w, int k);

// A loss follows. From dy, its derivative by every element of y, those by x, f and m, each as large
// as what it belongs to. z is not kept. The same arrays give the same bits every time.
//   d_scratch  separable_scratch(n, c, h, w, k) floats; what they hold before does not matter
void launch_separable_backward(const float* d_x, const float* d_f, const float* d_m,
                               const float* d_dy, float* d_dx, float* d_df, float* d_dm,
                               float* d_scratch, int n, int c, int h, int w, int k);

// Given, in 19_separable_layer_baseline.cu: forward and backward with a thread for each result of
// the layer and of dx, and a block for each weight.
void launch_separable_by_results(const float* d_x, const float* d_f, const float* d_m,
                                 const float* d_dy, float* d_y, float* d_dx, float* d_df,
                                 float* d_dm, int n, int c, int h, int w, int k);

#endif  // CHAPTERS_12_MNIST_CNN_19_SEPARABLE_LAYER_H_
