// 08/05 Stockham FFT: what the test calls.
#ifndef CHAPTERS_08_FFT_CONVOLUTION_05_FFT_STOCKHAM_H_
#define CHAPTERS_08_FFT_CONVOLUTION_05_FFT_STOCKHAM_H_

#include <vector_types.h>

// Forward transforms: y[k] = sum over i of x[i] exp(-2 pi i k / n), for each n values of x. Angles
// have all digits of a float: __sinf and __cosf have too few.
//   d_x, d_y  batch * n complex values each, one transform after the other; d_y may be d_x
//   n         256, 512, 1024, 2048 or 4096
//   batch     from 0 to 2^20
void launch_fft_stockham(const float2* d_x, float2* d_y, int n, int batch);

#endif  // CHAPTERS_08_FFT_CONVOLUTION_05_FFT_STOCKHAM_H_
