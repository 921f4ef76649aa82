// 08/01 DFT, naive: what the test calls.
#ifndef CHAPTERS_08_FFT_CONVOLUTION_01_DFT_NAIVE_H_
#define CHAPTERS_08_FFT_CONVOLUTION_01_DFT_NAIVE_H_

#include <vector_types.h>

// The discrete Fourier transform of n complex values:
//   y[k] = sum over i of x[i] exp(-2 pi i k / n)    (the i of the exponent times the imaginary
//   unit)
// n from 1 to 32,768, so that a product of two indices fits an int.

// y[k], k = 0 .. 3, for x = [0, 1, 0, -1].
float2 dft_on_paper(int k);
// The same for any x, in host memory. Sums are made in double.
void dft_on_host(const float2* x, float2* y, int n);
// The same on the device, with six digits: __sinf, __cosf and --use_fast_math have too few. d_x and
// d_y are n values each.
void launch_dft_naive(const float2* d_x, float2* d_y, int n);

#endif  // CHAPTERS_08_FFT_CONVOLUTION_01_DFT_NAIVE_H_
