// Overlap-add: segments of x that do not overlap, zeros behind them, and results that do, added in
// y by atomics. Two segments of 2049 values for each block.
#include "13_fft_conv1d.h"
#include "support.h"

using Fft = BlockFft<kSpectrum>;

constexpr int kSegment = kSpectrum - kMostFilter + 1;  // values of x: their results fit

__global__ void clear(float* y, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 0.0f;
}

__global__ void __launch_bounds__(Fft::kThreads)
    spectrum_of_filter(const float* w, float2* spectrum, int k) {
  __shared__ float2 tile[Fft::kTile];
  float2 v[Fft::kEach];
#pragma unroll
  for (int i = 0; i < Fft::kEach; ++i) {
    const int p = threadIdx.x + i * Fft::kThreads;
    v[i] = make_float2(p < k ? w[p] / kSpectrum : 0.0f, 0.0f);
  }
  Fft::forward(v, tile, threadIdx.x);
#pragma unroll
  for (int i = 0; i < Fft::kEach; ++i) spectrum[threadIdx.x + i * Fft::kThreads] = v[i];
}

__global__ void __launch_bounds__(Fft::kThreads)
    add_segments(const float* x, const float2* spectrum, float* y, int n, int k) {
  __shared__ float2 tile[Fft::kTile];
  const long long first = 2LL * blockIdx.x * kSegment;
  float2 v[Fft::kEach];
#pragma unroll
  for (int i = 0; i < Fft::kEach; ++i) {
    const int p = threadIdx.x + i * Fft::kThreads;
    const long long a = first + p, b = a + kSegment;
    v[i].x = p < kSegment && a < n ? x[a] : 0.0f;
    v[i].y = p < kSegment && b < n ? x[b] : 0.0f;
  }
  Fft::forward(v, tile, threadIdx.x);
#pragma unroll
  for (int i = 0; i < Fft::kEach; ++i) v[i] = v[i] * spectrum[threadIdx.x + i * Fft::kThreads];
  Fft::inverse(v, tile, threadIdx.x);
  const long long outputs = static_cast<long long>(n) + k - 1;
#pragma unroll
  for (int i = 0; i < Fft::kEach; ++i) {
    const int p = threadIdx.x + i * Fft::kThreads;
    if (p >= kSegment + k - 1) continue;
    if (first + p < outputs) atomicAdd(&y[first + p], v[i].x);
    if (first + kSegment + p < outputs) atomicAdd(&y[first + kSegment + p], v[i].y);
  }
}

void launch_fft_conv1d(const float* d_x, const float* d_w, float* d_y, float2* d_spectrum, int n,
                       int k) {
  const long long outputs = static_cast<long long>(n) + k - 1;
  clear<<<static_cast<unsigned>((outputs + 255) / 256), 256>>>(d_y, outputs);
  spectrum_of_filter<<<1, Fft::kThreads>>>(d_w, d_spectrum, k);
  const unsigned grid = static_cast<unsigned>((n + 2LL * kSegment - 1) / (2LL * kSegment));
  add_segments<<<grid, Fft::kThreads>>>(d_x, d_spectrum, d_y, n, k);
}
