// Accepted: bits are reversed first, x and y are transformed as one, four points of radix 4 at a time
// where two stages are left, and one warp finds the greatest.
#include "17_delay.h"

namespace {

constexpr int kThreads = 256, kMost = 4096;

__device__ float2 plus(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
__device__ float2 minus(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }
__device__ float2 turned(float2 a, float part) {
  float s, c;
  sincospif(part, &s, &c);
  return make_float2(a.x * c - a.y * s, a.x * s + a.y * c);
}

// Points in the order of reversed bits; `sign` -1 is forward.
__device__ void stages(float2* p, int n, float sign) {
  int half = 1;
  for (; 4 * half <= n; half *= 4) {
    __syncthreads();
    for (int b = threadIdx.x; b < n / 4; b += kThreads) {
      const int j = b & (half - 1), i = 4 * (b - j) + j;
      const float part = sign * static_cast<float>(j) / static_cast<float>(half);
      // Two stages of radix 2 on points i, i + half, i + 2 half, i + 3 half.
      const float2 p0 = p[i], p1 = turned(p[i + half], part);
      const float2 p2 = p[i + 2 * half], p3 = turned(p[i + 3 * half], part);
      const float2 q0 = plus(p0, p1), q1 = minus(p0, p1);
      const float2 q2 = turned(plus(p2, p3), 0.5f * part);
      const float2 q3 = turned(minus(p2, p3), 0.5f * (part + sign));
      p[i] = plus(q0, q2);
      p[i + half] = plus(q1, q3);
      p[i + 2 * half] = minus(q0, q2);
      p[i + 3 * half] = minus(q1, q3);
    }
  }
  __syncthreads();
  if (2 * half > n) return;
  for (int j = threadIdx.x; j < half; j += kThreads) {
    const float2 u = p[j];
    const float2 v = turned(p[j + half], sign * static_cast<float>(j) / static_cast<float>(half));
    p[j] = plus(u, v);
    p[j + half] = minus(u, v);
  }
  __syncthreads();
}

// The greatest of all threads.
__device__ float2 loudest(float x, float y) {
  __shared__ float of_x[kThreads / 32], of_y[kThreads / 32];
  for (int step = 16; step > 0; step /= 2) {
    x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, step));
    y = fmaxf(y, __shfl_xor_sync(0xffffffffu, y, step));
  }
  if (threadIdx.x % 32 == 0) {
    of_x[threadIdx.x / 32] = x;
    of_y[threadIdx.x / 32] = y;
  }
  __syncthreads();
  for (int warp = 0; warp < kThreads / 32; ++warp) {
    x = fmaxf(x, of_x[warp]);
    y = fmaxf(y, of_y[warp]);
  }
  return make_float2(x, y);
}

__global__ void delay_reversed(const float* x, const float* y, int* delay, float* peak, int n,
                               int shift) {
  __shared__ float2 p[kMost];
  const float* const of_x = x + static_cast<size_t>(blockIdx.x) * n;
  const float* const of_y = y + static_cast<size_t>(blockIdx.x) * n;
  float most_x = 0.0f, most_y = 0.0f;
  for (unsigned i = threadIdx.x; i < n; i += kThreads) {
    const float2 both = make_float2(of_x[i], of_y[i]);
    p[__brev(i) >> shift] = both;
    most_x = fmaxf(most_x, fabsf(both.x));
    most_y = fmaxf(most_y, fabsf(both.y));
  }
  const float2 loud = loudest(most_x, most_y);
  for (unsigned i = threadIdx.x; i < n; i += kThreads) {
    float2& both = p[__brev(i) >> shift];
    both = make_float2(both.x / fmaxf(loud.x, 1e-30f), both.y / fmaxf(loud.y, 1e-30f));
  }
  stages(p, n, -1.0f);
  // Products in place, each pair k, n - k by one thread; then into reversed order by exchanging.
  for (int k = threadIdx.x; 2 * k <= n; k += kThreads) {
    const int m = k == 0 ? 0 : n - k;
    const float2 a = p[k], b = p[m];
    const float xr = a.x + b.x, xi = a.y - b.y, yr = a.y + b.y, yi = b.x - a.x;
    const float2 c = make_float2(0.25f * (xr * yr + xi * yi), 0.25f * (xr * yi - xi * yr));
    p[k] = c;
    p[m] = make_float2(c.x, -c.y);
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < n; i += kThreads) {
    const unsigned other = __brev(i) >> shift;
    if (other <= i) continue;
    const float2 kept = p[i];
    p[i] = p[other];
    p[other] = kept;
  }
  stages(p, n, 1.0f);
  if (threadIdx.x >= 32) return;
  int best = threadIdx.x < n ? threadIdx.x : 0;
  for (int d = best; d < n; d += 32) best = p[d].x > p[best].x ? d : best;
  for (int step = 16; step > 0; step /= 2) {
    const int other = __shfl_xor_sync(0xffffffffu, best, step);
    if (p[other].x > p[best].x || (p[other].x == p[best].x && other < best)) best = other;
  }
  if (threadIdx.x != 0) return;
  delay[blockIdx.x] = best;
  peak[blockIdx.x] = p[best].x / static_cast<float>(n) * loud.x * loud.y;
}

}  // namespace

void launch_delay(const float* d_x, const float* d_y, int* d_delay, float* d_peak, int n,
                  int batch) {
  if (batch <= 0) return;
  int shift = 32;
  for (int points = 1; points < n; points *= 2) --shift;
  delay_reversed<<<batch, kThreads>>>(d_x, d_y, d_delay, d_peak, n, shift);
}
