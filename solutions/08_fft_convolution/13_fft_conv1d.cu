// 08/13 FFT convolution, 1-D: ifft(fft(x) fft(w)), segment by segment, in one kernel.
//   x  n floats,  w  k floats,  y  n + k - 1 floats: y[i] = sum over j of x[i - j] w[j]
//   A product of two spectra belongs to a convolution that goes round: its first k - 1 values hold
//   what came round the end. So segments of 4096 points overlap, and 4097 - k values of each are
//   kept (overlap-save). x and w are real: two segments share a transform. BlockFft of support.h
//   transforms what the threads of a block hold in registers.
//   TODOs  3
#include "13_fft_conv1d.h"
#include "support.h"

using Fft = BlockFft<kSpectrum>;

// spectrum = transform of w and zeros behind it, divided by the number of points, which the inverse
// transform does not do. One block.
__global__ void __launch_bounds__(Fft::kThreads)
    filter_spectrum(const float* w, float2* spectrum, int k) {
  //~begin 2
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
  //~end
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
  //~ // TODO(1): v has this thread's points of the two segments of x that y's values depend on, one as
  //~ // real parts, one as imaginary parts, in the order that BlockFft wants (about 6 lines).
  //~ for (int i = 0; i < Fft::kEach; ++i) {
  //~   v[i] = make_float2(value_or_zero(x, n, first + t + i * Fft::kThreads), 0.0f);
  //~ }
  //~begin 1
#pragma unroll
  for (int i = 0; i < Fft::kEach; ++i) {
    const int p = t + i * Fft::kThreads;  // point of the segments
    const long long from = first + p - (k - 1);
    v[i] = make_float2(value_or_zero(x, n, from), value_or_zero(x, n, from + kept));
  }
  //~end
  //~ // TODO(2): v has the points of both segments, convolved with the filter: a convolution that goes
  //~ // round. filter_spectrum has made the spectrum before (about 4 lines, and 11 there).
  //~ if (spectrum[t].x == 0.0f) Fft::forward(v, tile, t);
  //~begin 2
  Fft::forward(v, tile, t);
#pragma unroll
  for (int i = 0; i < Fft::kEach; ++i) v[i] = v[i] * spectrum[t + i * Fft::kThreads];
  Fft::inverse(v, tile, t);
  //~end
  //~ // TODO(3): y has the values of both segments that nothing has come round into, each once, and
  //~ // none behind its end (about 8 lines, and 4 for the launches).
  //~ if (t < kept && first + t < outputs) y[first + t] = v[0].x;
  //~begin 3
#pragma unroll
  for (int i = 0; i < Fft::kEach; ++i) {
    const int p = t + i * Fft::kThreads;
    if (p < k - 1) continue;
    const long long to = first + p - (k - 1);
    if (to < outputs) y[to] = v[i].x;
    if (to + kept < outputs) y[to + kept] = v[i].y;
  }
  //~end
}

void launch_fft_conv1d(const float* d_x, const float* d_w, float* d_y, float2* d_spectrum, int n,
                       int k) {
  //~ filter_spectrum<<<1, Fft::kThreads>>>(d_w, d_spectrum, k);
  //~ convolve_segments<<<1, Fft::kThreads>>>(d_x, d_spectrum, d_y, n, k);
  //~begin 3
  filter_spectrum<<<1, Fft::kThreads>>>(d_w, d_spectrum, k);
  const long long per_block = 2LL * (kSpectrum - (k - 1));
  const long long grid = (static_cast<long long>(n) + k - 1 + per_block - 1) / per_block;
  convolve_segments<<<static_cast<unsigned>(grid), Fft::kThreads>>>(d_x, d_spectrum, d_y, n, k);
  //~end
}
