// 08/16 Spectrogram with cuFFT: what the test calls.
#ifndef CHAPTERS_08_FFT_CONVOLUTION_16_CUFFT_SPECTROGRAM_H_
#define CHAPTERS_08_FFT_CONVOLUTION_16_CUFFT_SPECTROGRAM_H_

#include <vector_types.h>

// A signal is cut into frames of `length` samples that begin `hop` samples apart; samples at the
// end that fill no frame are left out.
struct Frames {
  int samples, length, hop;  // length even, from 2; hop from 1
  int count() const { return samples < length ? 0 : (samples - length) / hop + 1; }
  int bins() const { return length / 2 + 1; }  // frequencies 0 .. length / 2
};

// What serves every signal of one shape: a plan for all frames, and memory. count() is from 1, and
// an int holds count() x length.
struct Spectrogram {
  Frames frames;
  int plan;         // a cufftHandle: R2C, of every frame
  float* windowed;  // count() x length
  float2* spectra;  // count() x bins()
};
// None of these functions has a status to return: what a call of cuFFT in make_spectrogram or
// run_spectrogram returns is written to stderr with its name, where it is no success. What
// cufftDestroy returns may be dropped: nothing is left to be done about it.
Spectrogram* make_spectrogram(const Frames& frames);
void destroy_spectrogram(Spectrogram* spectrogram);

// out(frame, bin) = |sum over i of w(i) signal(frame hop + i) exp(-2 pi i bin / length)|, with
// w(i) = 1/2 - 1/2 cos(2 pi i / length): the Hann window. (The i of the exponent is also times the
// imaginary unit.)
//   d_signal  samples floats in device memory
//   d_out     count() x bins() floats in device memory, row-major
void run_spectrogram(const Spectrogram* spectrogram, const float* d_signal, float* d_out);

#endif  // CHAPTERS_08_FFT_CONVOLUTION_16_CUFFT_SPECTROGRAM_H_
