// Design: two real segments share a transform, one kernel, spectrum of the filter from L2
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
    const int j = t + i * Fft::kThreads;
    v[i] = make_float2(j < k ? w[j] / kSpectrum : 0.0f, 0.0f);
  }
  Fft::forward(v, tile, t);
#pragma unroll
  for (int i = 0; i < Fft::kEach; ++i) spectrum[t + i * Fft::kThreads] = v[i];
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
    const long long at = first - (k - 1) + t + i * Fft::kThreads;
    v[i] = make_float2(value_or_zero(x, n, at), value_or_zero(x, n, at + kept));
  }
  Fft::forward(v, tile, t);
#pragma unroll
  for (int i = 0; i < Fft::kEach; ++i) v[i] = v[i] * spectrum[t + i * Fft::kThreads];
  Fft::inverse(v, tile, t);
#pragma unroll
  for (int i = 0; i < Fft::kEach; ++i) {
    const int at = t + i * Fft::kThreads - (k - 1);  // in the segment
    if (at < 0) continue;
    if (first + at < outputs) y[first + at] = v[i].x;
    if (first + kept + at < outputs) y[first + kept + at] = v[i].y;
  }
}

void launch_fft_conv1d(const float* d_x, const float* d_w, float* d_y, float2* d_spectrum, int n,
                       int k) {
  filter_spectrum<<<1, Fft::kThreads>>>(d_w, d_spectrum, k);
  const long long kept = kSpectrum - (k - 1), outputs = static_cast<long long>(n) + k - 1;
  const int blocks = static_cast<int>((outputs + 2 * kept - 1) / (2 * kept));
  convolve_segments<<<blocks, Fft::kThreads>>>(d_x, d_spectrum, d_y, n, k);
}
