// 08/06 Inverse and real: what the test calls.
#ifndef CHAPTERS_08_FFT_CONVOLUTION_06_INVERSE_AND_REAL_H_
#define CHAPTERS_08_FFT_CONVOLUTION_06_INVERSE_AND_REAL_H_

#include <vector_types.h>

// Everything is in device memory, one transform after the other; n is a power of two, batch from 1
// to 2^20, and no array has 2^31 values.

// Inverse: x[i] = 1/n times the sum over k of y[k] exp(+2 pi i k / n).
//   d_y, d_x  batch * n values each; d_x may be d_y. n from 2 to 4096
void launch_ifft(const float2* d_y, float2* d_x, int n, int batch);

// Forward transforms of real values. y[n - k] is the conjugate of y[k], so half of y is enough.
//   d_x     batch * n floats, aligned to 8 bytes. n from 4 to 8192
//   d_y     batch * (n / 2 + 1) values: k = 0 .. n / 2
//   d_half  room for batch * n / 2 values
void launch_rfft(const float* d_x, float2* d_y, float2* d_half, int n, int batch);

// And back: n real values from n / 2 + 1 complex ones, which are those of a real signal: y[0] and
// y[n / 2] have the imaginary part 0. d_x is aligned to 8 bytes. No memory is
// needed but that of d_x, and none is allocated.
void launch_irfft(const float2* d_y, float* d_x, int n, int batch);

#endif  // CHAPTERS_08_FFT_CONVOLUTION_06_INVERSE_AND_REAL_H_
