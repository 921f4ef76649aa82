// 08/03 FFT, radix 2: what the test calls.
#ifndef CHAPTERS_08_FFT_CONVOLUTION_03_FFT_RADIX2_H_
#define CHAPTERS_08_FFT_CONVOLUTION_03_FFT_RADIX2_H_

#include <vector_types.h>

// Forward transforms: y[k] = sum over i of x[i] exp(-2 pi i k / n), for each n values of x. Angles
// have all digits of a float: __sinf and __cosf have too few. So the error of a transform of 4096
// random values is at most 5.5 units of 2^-24, relative to its length (L2 norm).
//   d_x, d_y  batch * n complex values each, one transform after the other; d_y may be d_x
//   n         a power of two from 2 to 4096
//   batch     from 0 to 2^20
void launch_fft_radix2(const float2* d_x, float2* d_y, int n, int batch);
// The same with a pass through global memory for each stage (the baseline). d_between has room for
// batch * n values; no two of the three arrays may be the same.
void launch_fft_global(const float2* d_x, float2* d_y, float2* d_between, int n, int batch);

#endif  // CHAPTERS_08_FFT_CONVOLUTION_03_FFT_RADIX2_H_
