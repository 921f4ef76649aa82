// 08/17 Delay: what the test calls.
#ifndef CHAPTERS_08_FFT_CONVOLUTION_17_DELAY_H_
#define CHAPTERS_08_FFT_CONVOLUTION_17_DELAY_H_

// Pairs of periodic signals of n values each: how much later is the second one?
//   c(d) = sum over i of x[i] y[(i + d) mod n], for d = 0 .. n - 1
//   delay[b]  of pair b: the d whose c(d) is greatest
//   peak[b]   that c(d)
// Both are right within 2^-18 |x| |y|, with |x|^2 = sum over i of x[i]^2: sums that differ by no
// more are taken as equal, and any of their d is right.
//   d_x, d_y          batch * n floats in device memory, one signal after the other; finite, as is
//                     every sum
//   d_delay, d_peak   batch ints, batch floats
//   n                 a power of two from 2 to 4096
//   batch             from 0 on; batch * n fits an int
void launch_delay(const float* d_x, const float* d_y, int* d_delay, float* d_peak, int n,
                  int batch);

// The same from the definition (17_delay_baseline.cu); batch >= 1.
void launch_delay_by_sums(const float* d_x, const float* d_y, int* d_delay, float* d_peak, int n,
                          int batch);

#endif  // CHAPTERS_08_FFT_CONVOLUTION_17_DELAY_H_
