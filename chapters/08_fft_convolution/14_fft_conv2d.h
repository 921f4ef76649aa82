// 08/14 Convolution through the spectrum, 2-D: what the test calls.
#ifndef CHAPTERS_08_FFT_CONVOLUTION_14_FFT_CONV2D_H_
#define CHAPTERS_08_FFT_CONVOLUTION_14_FFT_CONV2D_H_

#include <vector_types.h>

#include <cstddef>

// The sizes of an image and a filter, in floats, row-major without gaps. The filter is no larger
// than the image, nor than 1024 x 1024; the image has any size.
struct Conv2d {
  int height, width;                // of the image
  int filter_height, filter_width;  // from 1
  int out_height() const { return height - filter_height + 1; }
  int out_width() const { return width - filter_width + 1; }
};

// out(y, x) = sum over (r, c) of image(y + r, x + c) filter(r, c): valid mode, filter not turned.
// All arrays are in device memory; image and filter are finite.

// The same through the spectrum. d_workspace: room for fft_conv2d_workspace(shape) complex values.
size_t fft_conv2d_workspace(const Conv2d& shape);
void launch_fft_conv2d(const float* d_image, const float* d_filter, float* d_out,
                       float2* d_workspace, const Conv2d& shape);
// Is launch_fft_conv2d faster than launch_conv2d_direct, for a large image? Anything may be said of
// filters of 16 to 288 elements.
bool fft_overtakes(const Conv2d& shape);

// Given, in 14_fft_conv2d_baseline.cu: from the definition, a thread per element of out.
void launch_conv2d_naive(const float* d_image, const float* d_filter, float* d_out,
                         const Conv2d& shape);
// And as fast as the definition goes: tiles of both in shared memory, 32 sums per thread.
void launch_conv2d_direct(const float* d_image, const float* d_filter, float* d_out,
                          const Conv2d& shape);

#endif  // CHAPTERS_08_FFT_CONVOLUTION_14_FFT_CONV2D_H_
