// 08/09 Conv2d, NCHW: what the test calls, and the sizes of a layer for 09 to 12 and chapter 12.
#ifndef CHAPTERS_08_FFT_CONVOLUTION_09_CONV2D_NCHW_H_
#define CHAPTERS_08_FFT_CONVOLUTION_09_CONV2D_NCHW_H_

#include <cuda_runtime.h>

// The sizes of a convolution layer, with the letters of cuDNN and of papers. Stride 1; zeros lie
// around every image.
//   x  n x c x h x w: n images of c channels, h rows, w columns
//   f  k x c x r x s: k filters, each with r x s weights for every channel
//   y  n x k x p x q: filter k makes channel k of the result
// The last index is the fastest: NCHW.
struct ConvLayer {
  int n, c, h, w;
  int k, r, s;
  int pad;  // rows and columns of zeros on every side
  __host__ __device__ int p() const { return h + 2 * pad - r + 1; }
  __host__ __device__ int q() const { return w + 2 * pad - s + 1; }
};

// y[n][k][row][col] = sum over c, i, j of f[k][c][i][j] x[n][c][row + i - pad][col + j - pad],
// where x is 0 outside the image. d_x, d_f, d_y in device memory; layer.n >= 0, all other sizes,
// p() and q() at least 1; none of the three has 2^31 elements or more. (A grid that is rounded up
// to whole blocks may have more threads than that.)
void launch_conv2d_nchw(const float* d_x, const float* d_f, float* d_y, const ConvLayer& layer);

#endif  // CHAPTERS_08_FFT_CONVOLUTION_09_CONV2D_NCHW_H_
