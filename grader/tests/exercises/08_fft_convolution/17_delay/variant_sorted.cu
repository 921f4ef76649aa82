// Accepted: transforms that sort themselves, between two arrays in shared memory (Stockham), with all
// roots in a table; the greatest is found by halving.
#include "17_delay.h"

namespace {

constexpr int kThreads = 128;

__device__ float2 product(float2 a, float2 b) {
  return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// Returns where the result lies. direction 1: forward; -1: back, n times too large.
__device__ float2* sorted_transform(float2* from, float2* to, const float2* roots, int n,
                                    float direction) {
  for (int width = 1; width < n; width *= 2) {
    __syncthreads();
    for (int b = threadIdx.x; b < n / 2; b += kThreads) {
      const int j = b % width;
      float2 w = roots[j * (n / 2 / width)];
      w.y *= direction;
      const float2 u = from[b], v = product(from[b + n / 2], w);
      const int at = 2 * (b - j) + j;
      to[at] = make_float2(u.x + v.x, u.y + v.y);
      to[at + width] = make_float2(u.x - v.x, u.y - v.y);
    }
    float2* const other = from;
    from = to;
    to = other;
  }
  __syncthreads();
  return from;
}

__global__ void delay_sorted(const float* x, const float* y, int* delay, float* peak, int n) {
  extern __shared__ float2 memory[];  // two arrays of n points, n / 2 roots
  __shared__ float values[kThreads];
  __shared__ int places[kThreads];
  float2 *a = memory, *b = memory + n, *roots = memory + 2 * n;
  const size_t first = static_cast<size_t>(blockIdx.x) * n;
  __shared__ unsigned loudest[2];
  if (threadIdx.x < 2) loudest[threadIdx.x] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += kThreads) {
    a[i] = make_float2(x[first + i], y[first + i]);
    atomicMax(&loudest[0], __float_as_uint(fabsf(a[i].x)));
    atomicMax(&loudest[1], __float_as_uint(fabsf(a[i].y)));
  }
  __syncthreads();
  const float of_x = __uint_as_float(loudest[0]), of_y = __uint_as_float(loudest[1]);
  for (int i = threadIdx.x; i < n; i += kThreads) {
    a[i] = make_float2(a[i].x / fmaxf(of_x, 1e-30f), a[i].y / fmaxf(of_y, 1e-30f));
  }
  for (int i = threadIdx.x; i < n / 2; i += kThreads) {
    sincospif(-2.0f * static_cast<float>(i) / static_cast<float>(n), &roots[i].y, &roots[i].x);
  }
  float2* const z = sorted_transform(a, b, roots, n, 1.0f);
  float2* const c = z == a ? b : a;
  for (int k = threadIdx.x; k < n; k += kThreads) {
    const float2 p = z[k], q = z[(n - k) % n];
    // conj(X) Y with X = (p + conj q) / 2 and Y = (p - conj q) / 2i
    const float2 of_x = make_float2(p.x + q.x, -(p.y - q.y));
    const float2 of_y = make_float2(p.y + q.y, q.x - p.x);
    const float2 both = product(of_x, of_y);
    c[k] = make_float2(0.25f * both.x, 0.25f * both.y);
  }
  const float2* const sums = sorted_transform(c, z, roots, n, -1.0f);
  int best = threadIdx.x < n ? threadIdx.x : 0;
  for (int d = best; d < n; d += kThreads) {
    if (sums[d].x > sums[best].x) best = d;
  }
  values[threadIdx.x] = sums[best].x;
  places[threadIdx.x] = best;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half && values[threadIdx.x + half] > values[threadIdx.x]) {
      values[threadIdx.x] = values[threadIdx.x + half];
      places[threadIdx.x] = places[threadIdx.x + half];
    }
  }
  if (threadIdx.x != 0) return;
  delay[blockIdx.x] = places[0];
  peak[blockIdx.x] = values[0] / static_cast<float>(n) * of_x * of_y;
}

}  // namespace

void launch_delay(const float* d_x, const float* d_y, int* d_delay, float* d_peak, int n,
                  int batch) {
  if (batch == 0) return;
  const int bytes = (2 * n + n / 2) * static_cast<int>(sizeof(float2));
  cudaFuncSetAttribute(delay_sorted, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  delay_sorted<<<batch, kThreads, bytes>>>(d_x, d_y, d_delay, d_peak, n);
}
