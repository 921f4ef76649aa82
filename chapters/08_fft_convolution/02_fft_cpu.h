// 08/02 FFT, CPU: what the test calls.
#ifndef CHAPTERS_08_FFT_CONVOLUTION_02_FFT_CPU_H_
#define CHAPTERS_08_FFT_CONVOLUTION_02_FFT_CPU_H_

#include <vector_types.h>

#include <functional>

// The product of two complex numbers. Each call is counted. Every product goes through it but those
// by 1, -1, i and -i, which may be left out.
using Product = std::function<float2(float2, float2)>;

// The forward transform of n values in host memory, n a power of two from 1:
//   y[k] = sum over i of x[i] exp(-2 pi i k / n), for k = 0 .. n - 1; x and y do not overlap
void fft_recursive(const float2* x, float2* y, int n, const Product& times);

// The number whose lowest `bits` bits are those of i in reversed order; 0 <= i < 2^bits.
int bit_reversed(int i, int bits);

// The forward transform of n values, in place, without recursion; n a power of two from 1.
void fft_iterative(float2* points, int n, const Product& times);

#endif  // CHAPTERS_08_FFT_CONVOLUTION_02_FFT_CPU_H_
