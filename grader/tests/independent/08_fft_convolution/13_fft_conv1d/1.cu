// 08/13 FFT convolution, 1-D: ifft(fft(x) fft(w)), segment by segment, in one kernel.
//   x  n floats,  w  k floats,  y  n + k - 1 floats: y[i] = sum over j of x[i - j] w[j]
//   A product of two spectra belongs to a convolution that goes round: its first k - 1 values hold
//   what came round the end. So segments of 4096 points overlap by k - 1, and only the last 4097 -
//   k values of each are kept (overlap-save). x and w are real: two segments share a transform, one
//   as real parts, one as imaginary parts. BlockFft of support.h transforms what the threads of a
//   block hold in registers.
//   TODOs  3
#include "13_fft_conv1d.h"
#include "support.h"

using Fft = BlockFft<kSpectrum>;

// spectrum = transform of w and zeros behind it, divided by the number of points, which the inverse
// transform does not do. One block.
__global__ void __launch_bounds__(Fft::kThreads)
    filter_spectrum(const float* w, float2* spectrum, int k) {
  __shared__ float2 tile[Fft::kTile];
  const int t = threadIdx.x;
  float2 v[Fft::kEach];
#pragma unroll
  for (int i = 0; i < Fft::kEach; ++i) {
    const int p = t + i * Fft::kThreads;
    v[i] = make_float2(p < k ? w[p] : 0.0f, 0.0f);
  }
  Fft::forward(v, tile, t);
#pragma unroll
  for (int i = 0; i < Fft::kEach; ++i) {
    spectrum[t + i * Fft::kThreads] = (1.0f / kSpectrum) * v[i];
  }
}

// x[i], and zero where there is none.
__device__ __forceinline__ float value_or_zero(const float* x, int n, long long i) {
  return 0 <= i && i < n ? x[i] : 0.0f;
}

// Block b makes segments 2 b and 2 b + 1 of y, `kept` values each.
__global__ void __launch_bounds__(Fft::kThreads, 2)
    convolve_segments(const float* x, const float2* spectrum, float* y, int n, int k) {
  __shared__ float2 tile[Fft::kTile];
  const int t = threadIdx.x;
  const int kept = kSpectrum - (k - 1);  // of a segment
  const long long outputs = static_cast<long long>(n) + k - 1;
  const long long first = static_cast<long long>(blockIdx.x) * 2 * kept;  // y of segment 2 b
  float2 v[Fft::kEach];
#pragma unroll
  for (int i = 0; i < Fft::kEach; ++i) {
    const int p = t + i * Fft::kThreads;  // point of the segments
    // TODO(1): Point p of a segment is k - 1 places before the value of y that it makes: fetch
    // that of both segments with value_or_zero (about 3 lines).
    v[i] = make_float2(value_or_zero(x, n, first + p - (k - 1)), value_or_zero(x, n, first + kept + p - (k - 1)));
  }
  // TODO(2): Transform, multiply each point by its value of the spectrum, transform back (about
  // 5 lines).
  Fft::forward(v, tile, t);
  for (int i = 0; i < Fft::kEach; ++i) v[i] = conjugate(v[i] * spectrum[t + i * Fft::kThreads]);
  Fft::forward(v, tile, t);
  for (int i = 0; i < Fft::kEach; ++i) v[i] = conjugate(v[i]);
#pragma unroll
  for (int i = 0; i < Fft::kEach; ++i) {
    const int p = t + i * Fft::kThreads;
    // TODO(3): Write the values that have not come round, and that y has: of the real parts to
    // segment 2 b, of the imaginary parts to the next (about 6 lines).
    if (p < k - 1) continue;
    const long long at = first + p - (k - 1);
    if (at < outputs) y[at] = v[i].x;
    if (at + kept < outputs) y[at + kept] = v[i].y;
  }
}

void launch_fft_conv1d(const float* d_x, const float* d_w, float* d_y, float2* d_spectrum, int n,
                       int k) {
  filter_spectrum<<<1, Fft::kThreads>>>(d_w, d_spectrum, k);
  const long long per_block = 2LL * (kSpectrum - (k - 1));
  const long long grid = (static_cast<long long>(n) + k - 1 + per_block - 1) / per_block;
  convolve_segments<<<static_cast<unsigned>(grid), Fft::kThreads>>>(d_x, d_spectrum, d_y, n, k);
}
