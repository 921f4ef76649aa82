// 08/08 Conv2d, direct: what the test calls.
#ifndef CHAPTERS_08_FFT_CONVOLUTION_08_CONV2D_DIRECT_H_
#define CHAPTERS_08_FFT_CONVOLUTION_08_CONV2D_DIRECT_H_

constexpr int kMaxFilterSide = 32;  // rows or columns of a filter

// An image filtered to the same size (a correlation, as deep learning has it):
//   y[row][col] = sum over i, j of f[i][j] x[row + i - (r - 1) / 2][col + j - (s - 1) / 2]
// where x is taken as 0 outside the image; halves are rounded down.
//   d_x  h x w floats,  d_f  r x s floats,  d_y  h x w floats; row-major in device memory
//   h and w from 0 to 2^19, h * w < 2^31;  1 <= r, s <= kMaxFilterSide
// Work of the default stream, so calls come one after the other; each may have another filter.
void launch_conv2d_direct(const float* d_x, const float* d_f, float* d_y, int h, int w, int r,
                          int s);

// The same with nothing shared (08_conv2d_direct_baseline.cu); h, w >= 1.
void launch_conv2d_naive(const float* d_x, const float* d_f, float* d_y, int h, int w, int r,
                         int s);

#endif  // CHAPTERS_08_FFT_CONVOLUTION_08_CONV2D_DIRECT_H_
