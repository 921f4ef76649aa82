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
  //~ // TODO(1): One plan transforms all frames in one call, and there is memory for all of them, which
  //~ // destroy_spectrogram gives back (4 lines, and 3 there).
  //~begin 1
  check(cufftPlan1d(&spectrogram->plan, frames.length, CUFFT_R2C, frames.count()), "cufftPlan1d");
  const size_t count = frames.count();
  cudaMalloc(&spectrogram->windowed, count * frames.length * sizeof(float));
  cudaMalloc(&spectrogram->spectra, count * frames.bins() * sizeof(float2));
  //~end
  return spectrogram;
}

void destroy_spectrogram(Spectrogram* spectrogram) {
  //~begin 1
  check(cufftDestroy(spectrogram->plan), "cufftDestroy");
  cudaFree(spectrogram->windowed);
  cudaFree(spectrogram->spectra);
  //~end
  delete spectrogram;
}

// A block cuts frame blockIdx.x, 2^31 - 1 at most.
__global__ void cut_frames(const float* signal, float* windowed, int length, int hop) {
  //~ // TODO(2): windowed has all samples of this frame, times the window of the header (5 lines).
  //~begin 2
  const size_t frame = blockIdx.x;
  for (int i = threadIdx.x; i < length; i += blockDim.x) {
    const float window = 0.5f - 0.5f * cospif(2.0f * i / length);
    windowed[frame * length + i] = window * signal[frame * hop + i];
  }
  //~end
}

__global__ void magnitudes(const float2* spectra, float* out, size_t n) {
  //~begin 3
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) out[i] = sqrtf(spectra[i].x * spectra[i].x + spectra[i].y * spectra[i].y);
  //~end
}

void run_spectrogram(const Spectrogram* spectrogram, const float* d_signal, float* d_out) {
  //~ // TODO(3): out has the magnitude of every bin of every frame: two launches and one call of the
  //~ // library, however many frames there are (8 lines, and 2 in magnitudes).
  //~begin 3
  const Frames& frames = spectrogram->frames;
  constexpr int kBlock = 128;  // threads
  const size_t bins = static_cast<size_t>(frames.count()) * frames.bins();
  const int grid = static_cast<int>((bins + kBlock - 1) / kBlock);
  cut_frames<<<frames.count(), kBlock>>>(d_signal, spectrogram->windowed, frames.length,
                                         frames.hop);
  check(cufftExecR2C(spectrogram->plan, spectrogram->windowed, spectrogram->spectra),
        "cufftExecR2C");
  magnitudes<<<grid, kBlock>>>(spectrogram->spectra, d_out, bins);
  //~end
}
