// The baseline of 08/13: the sum itself, tiled. A thread makes eight neighbouring values of y, from
// 15 values of x and 8 of w in registers for every 64 multiply-adds.
#include "13_fft_conv1d.h"

namespace {

constexpr int kThreads = 128;              // of a block
constexpr int kEach = 8;                   // values of y of a thread
constexpr int kValues = kThreads * kEach;  // of y, of a block
constexpr int kTaps = 256;                 // of w at a time
constexpr int kWindow = kValues + kTaps;   // values of x that these need, and one more
constexpr int kPadded = kWindow / 8 * 9;   // one float is left out after each 8: lanes are 8 apart

__device__ int place(int i) { return i + i / 8; }

}  // namespace

__global__ void __launch_bounds__(kThreads)
    conv1d_direct(const float* x, const float* w, float* y, int n, int k) {
  __shared__ float window[kPadded];  // x from first - taps - kTaps on
  __shared__ float filter[kTaps];
  const long long first = static_cast<long long>(blockIdx.x) * kValues;  // of y, of this block
  float sums[kEach] = {};
  for (int taps = 0; taps < k; taps += kTaps) {
    for (int e = threadIdx.x; e < kWindow; e += kThreads) {
      const long long i = first - taps - kTaps + e;
      window[place(e)] = 0 <= i && i < n ? x[i] : 0.0f;
    }
    for (int e = threadIdx.x; e < kTaps; e += kThreads) {
      filter[e] = taps + e < k ? w[taps + e] : 0.0f;
    }
    __syncthreads();  // closes write against read: the window comes from all threads
    const int mine = threadIdx.x * kEach + kTaps;  // where x[first value of this thread - taps] is
    for (int tap = 0; tap < kTaps && taps + tap < k; tap += kEach) {
      float from_x[2 * kEach], from_w[kEach];
#pragma unroll
      for (int e = 0; e < 2 * kEach; ++e) from_x[e] = window[place(mine - tap - kEach + e)];
#pragma unroll
      for (int e = 0; e < kEach; ++e) from_w[e] = filter[tap + e];
#pragma unroll
      for (int j = 0; j < kEach; ++j) {
#pragma unroll
        for (int e = 0; e < kEach; ++e) sums[e] += from_x[kEach + e - j] * from_w[j];
      }
    }
    __syncthreads();  // closes read against write: the next taps overwrite the window
  }
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    const long long i = first + threadIdx.x * kEach + e;
    if (i < static_cast<long long>(n) + k - 1) y[i] = sums[e];
  }
}

void launch_conv1d_direct(const float* d_x, const float* d_w, float* d_y, int n, int k) {
  const long long outputs = static_cast<long long>(n) + k - 1;
  const unsigned grid = static_cast<unsigned>((outputs + kValues - 1) / kValues);
  conv1d_direct<<<grid, kThreads>>>(d_x, d_w, d_y, n, k);
}
