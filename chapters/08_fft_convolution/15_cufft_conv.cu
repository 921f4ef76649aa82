// 08/15 Convolution with cuFFT: two transforms, a product, one transform back.
//   image, filter, out  as in 14, in valid mode; see the header
//   Image and filter are padded with zeros to rows x cols, no less than the image: what wraps round
//   lies outside of the valid part. Real values have a spectrum of rows x (cols / 2 + 1) complex
//   values; the others are their conjugates. Nothing is scaled by the library.
//   TODOs  4
#include <cufft.h>

#include <cstdio>

#include "15_cufft_conv.h"
#include "support.h"

void check(cufftResult result, const char* call) {
  if (result != CUFFT_SUCCESS) std::fprintf(stderr, "%s returned %d\n", call, result);
}

int fast_size(int n) {
  // TODO(1): The result is the smallest size from n on that cuFFT has fast code for: one without a
  // prime factor above 7 (about 7 lines).
  return n;
}

CufftConv* make_cufft_conv(const ConvShape& shape) {
  CufftConv* conv = new CufftConv();
  // TODO(2): conv has all that the header says: the sizes, plans for the transforms there and back,
  // and memory. destroy_cufft_conv leaves nothing behind (about 11 lines, and 8 there).
  return conv;
}

void destroy_cufft_conv(CufftConv* conv) {
  delete conv;
}

// to (to_rows x to_cols) = from (rows x cols), and zeros to the right and below.
__global__ void pad(const float* from, int rows, int cols, float* to, int to_rows, int to_cols) {
}

// image[i] becomes the value of the correlation's spectrum, n values.
__global__ void multiply_spectra(float2* image, const float2* filter, int n, float scale) {
  // TODO(3): image has the spectrum of what the header asks for, a correlation, times scale
  // (about 2 lines).
}

void run_cufft_conv(const CufftConv* conv, const float* d_image, const float* d_filter,
                    float* d_out) {
  // TODO(4): d_out has the valid part, by three transforms and one product; nothing waits for the
  // device. What is padded has zeros to the right and below, and the numbers are as large as the
  // sum itself would make them (about 19 lines, and 6 in pad).
}
