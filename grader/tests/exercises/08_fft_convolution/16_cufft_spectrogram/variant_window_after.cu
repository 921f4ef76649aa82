// Accepted: nothing is copied. The plan reads frames that overlap where they lie, and the window is
// taken in the spectrum: its own is 1/2 at 0 and -1/4 at the two neighbours.
#include <cufft.h>

#include <cstdio>

#include "16_cufft_spectrogram.h"

static void say(const char* call, cufftResult result) {
  if (result != CUFFT_SUCCESS) fprintf(stderr, "%s: cufftResult %d\n", call, result);
}

Spectrogram* make_spectrogram(const Frames& frames) {
  Spectrogram* made = new Spectrogram{frames, 0, nullptr, nullptr};
  int n = frames.length;
  say("cufftPlanMany", cufftPlanMany(&made->plan, 1, &n, &n, 1, frames.hop, &n, 1, frames.bins(),
                                     CUFFT_R2C, frames.count()));
  cudaMalloc(&made->spectra, sizeof(float2) * frames.count() * frames.bins());
  return made;
}

void destroy_spectrogram(Spectrogram* spectrogram) {
  cufftDestroy(spectrogram->plan);
  cudaFree(spectrogram->spectra);
  delete spectrogram;
}

// Bin k of n + 1, of the real signal's spectrum of 2 n: what lies outside is conjugated.
__device__ float2 value(const float2* spectrum, int k, int n) {
  if (k >= 0 && k <= n) return spectrum[k];
  const float2 other = spectrum[k < 0 ? -k : 2 * n - k];
  return make_float2(other.x, -other.y);
}

__global__ void window_and_measure(const float2* spectra, float* out, int bins) {
  const float2* spectrum = spectra + static_cast<size_t>(blockIdx.x) * bins;
  for (int k = threadIdx.x; k < bins; k += blockDim.x) {
    const float2 here = value(spectrum, k, bins - 1);
    const float2 below = value(spectrum, k - 1, bins - 1), above = value(spectrum, k + 1, bins - 1);
    const float re = 0.5f * here.x - 0.25f * (below.x + above.x);
    const float im = 0.5f * here.y - 0.25f * (below.y + above.y);
    out[static_cast<size_t>(blockIdx.x) * bins + k] = hypotf(re, im);
  }
}

void run_spectrogram(const Spectrogram* spectrogram, const float* d_signal, float* d_out) {
  const Frames& frames = spectrogram->frames;
  say("cufftExecR2C",
      cufftExecR2C(spectrogram->plan, const_cast<float*>(d_signal), spectrogram->spectra));
  window_and_measure<<<frames.count(), 64>>>(spectrogram->spectra, d_out, frames.bins());
}
