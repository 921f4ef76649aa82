// 08/15 Convolution with cuFFT: what the test calls.
#ifndef CHAPTERS_08_FFT_CONVOLUTION_15_CUFFT_CONV_H_
#define CHAPTERS_08_FFT_CONVOLUTION_15_CUFFT_CONV_H_

#include <vector_types.h>

// Floats, row-major; the filter is no larger than the image.
struct ConvShape {
  int height, width;                // of the image, from 1 to 65,536, fewer than 2^30 pixels
  int filter_height, filter_width;  // from 1
  int out_height() const { return height - filter_height + 1; }
  int out_width() const { return width - filter_width + 1; }
};

// The smallest number from n on without a prime factor above 7. n from 1.
int fast_size(int n);

// What serves every image of one shape: plans, and memory for padded arrays and spectra.
struct CufftConv {
  ConvShape shape;
  int rows, cols;                            // of the transforms
  int forward, inverse;                      // cufftHandles: R2C, C2R
  float *image, *filter;                     // rows x cols
  float2 *image_spectrum, *filter_spectrum;  // rows x half_cols()
  int half_cols() const { return cols / 2 + 1; }
};
// None of these functions has a status to return: what a call of cuFFT in make_cufft_conv or
// run_cufft_conv returns is written to stderr with its name, where it is no success. What
// cufftDestroy returns may be dropped: nothing is left to be done about it.
CufftConv* make_cufft_conv(const ConvShape& shape);
void destroy_cufft_conv(CufftConv* conv);

// out(y, x) = sum over (r, c) of image(y + r, x + c) filter(r, c), valid mode: out has out_height()
// rows of out_width() columns. All in device memory; image and filter are finite.
// Any number of times.
void run_cufft_conv(const CufftConv* conv, const float* d_image, const float* d_filter,
                    float* d_out);

#endif  // CHAPTERS_08_FFT_CONVOLUTION_15_CUFFT_CONV_H_
