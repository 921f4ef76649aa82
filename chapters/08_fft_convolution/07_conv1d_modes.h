// 08/07 Convolution modes: what the test calls.
#ifndef CHAPTERS_08_FFT_CONVOLUTION_07_CONV1D_MODES_H_
#define CHAPTERS_08_FFT_CONVOLUTION_07_CONV1D_MODES_H_

// Which values of the full result are kept.
enum class ConvMode {
  kFull,   // all: every place where the filter and the signal overlap
  kSame,   // as many as the signal has, from the middle of the full result
  kValid,  // those for which the whole filter lies on the signal
};

// How many values are kept of n values and a filter of k: n + k - 1, n, or n - k + 1, which is 0
// for a filter longer than the signal. n and k from 1 to 2^29.
int conv1d_size(int n, int k, ConvMode mode);

// d_x  n floats,  d_w  k floats,  d_y  conv1d_size(n, k, mode) floats; all in device memory.
//   convolution   full[i] = sum over j of w[j] x[i - j]
//   correlation   full[i] = sum over j of w[k - 1 - j] x[i - j]
// with x taken as 0 where it has no value. kSame begins at full[(k - 1) / 2], rounded down.
void launch_convolve1d(const float* d_x, const float* d_w, float* d_y, int n, int k, ConvMode mode);
void launch_correlate1d(const float* d_x, const float* d_w, float* d_y, int n, int k,
                        ConvMode mode);

#endif  // CHAPTERS_08_FFT_CONVOLUTION_07_CONV1D_MODES_H_
