// 08/04 FFT, radix 4: what the test calls.
#ifndef CHAPTERS_08_FFT_CONVOLUTION_04_FFT_RADIX4_H_
#define CHAPTERS_08_FFT_CONVOLUTION_04_FFT_RADIX4_H_

#include <vector_types.h>

// One pass over batch arrays of n complex values each, one array after the other. Before it, an
// array x holds n / done finished transforms of `done` points, one after the other. Behind it, y
// holds n / (4 done) finished transforms of 4 done points: number q is made of those with the
// numbers q, q + n / (4 done), q + 2 n / (4 done), q + 3 n / (4 done), and its point k is the sum
// over r from 0 to 3 of turn(r k / (4 done)) times point k mod done of the r-th of these.
//   n      a power of four from 4 to 4096
//   done   1, 4, 16, ..., at most n / 4
//   batch  from 0 to 2^20
// d_x and d_y do not overlap.
void launch_fft_pass4(const float2* d_x, float2* d_y, int n, int done, int batch);

// Forward transforms: y[k] = sum over i of x[i] exp(-2 pi i k / n), for each n values of x, by
// passes alone. Angles have all digits of a float: __sinf and __cosf have too few. d_x, d_y and
// d_between have batch * n values each, and no two of them overlap; d_x stays as it is.
void launch_fft_radix4(const float2* d_x, float2* d_y, float2* d_between, int n, int batch);

#endif  // CHAPTERS_08_FFT_CONVOLUTION_04_FFT_RADIX4_H_
