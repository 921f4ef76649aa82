// 08/16 Spectrogram with cuFFT: frames of a signal, a window, a batch of transforms, magnitudes.
//   signal, out  see the header
//   A frame cut out of a signal begins and ends with jumps, which have all frequencies. The window
//   fades it in and out. It needs a copy of each sample for every frame that the sample is in.
//   TODOs  3
#include <cufft.h>

#include <cstdio>

#include "16_cufft_spectrogram.h"

void check(cufftResult result, const char* call) {
  if (result != CUFFT_SUCCESS) std::fprintf(stderr, "%s returned %d\n", call, result);
}

Spectrogram* make_spectrogram(const Frames& frames) {
  Spectrogram* spectrogram = new Spectrogram();
  spectrogram->frames = frames;
  // TODO(1): One plan transforms all frames in one call, and there is memory for all of them, which
  // destroy_spectrogram gives back (4 lines, and 3 there).
  return spectrogram;
}

void destroy_spectrogram(Spectrogram* spectrogram) {
  delete spectrogram;
}

// A block cuts frame blockIdx.x, 2^31 - 1 at most.
__global__ void cut_frames(const float* signal, float* windowed, int length, int hop) {
  // TODO(2): windowed has all samples of this frame, times the window of the header (5 lines).
}

__global__ void magnitudes(const float2* spectra, float* out, size_t n) {
}

void run_spectrogram(const Spectrogram* spectrogram, const float* d_signal, float* d_out) {
  // TODO(3): out has the magnitude of every bin of every frame: two launches and one call of the
  // library, however many frames there are (8 lines, and 2 in magnitudes).
}
