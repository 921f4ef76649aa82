// 08/13 FFT convolution, 1-D: what the test calls.
#ifndef CHAPTERS_08_FFT_CONVOLUTION_13_FFT_CONV1D_H_
#define CHAPTERS_08_FFT_CONVOLUTION_13_FFT_CONV1D_H_

#include <vector_types.h>

constexpr int kSpectrum = 4096;    // points of every transform, and values of d_spectrum
constexpr int kMostFilter = 2048;  // floats of a filter

// The full convolution: y[i] = sum over j of x[i - j] w[j], where x is zero outside.
//   d_x         n floats, n from 1 to 2^30; finite
//   d_w         k floats, k from 1 to kMostFilter; finite
//   d_y         n + k - 1 floats
//   d_spectrum  room for kSpectrum values
void launch_fft_conv1d(const float* d_x, const float* d_w, float* d_y, float2* d_spectrum, int n,
                       int k);
// The same from the definition, tiled (the baseline).
void launch_conv1d_direct(const float* d_x, const float* d_w, float* d_y, int n, int k);

#endif  // CHAPTERS_08_FFT_CONVOLUTION_13_FFT_CONV1D_H_
