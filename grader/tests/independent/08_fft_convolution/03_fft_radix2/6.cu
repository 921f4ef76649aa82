// Stockham autosort between two halves of shared memory, no bit reversal; up to 1024 threads; several short transforms stay one per block
#include "03_fft_radix2.h"
#include "support.h"

namespace {

__device__ __forceinline__ int gap(int i) { return i + i / 16; }

// Of n points, groups of `done` are finished transforms; each pass joins two of them.
__global__ void autosort(const float2* x, float2* y, int n) {
  extern __shared__ float2 room[];  // twice n + n / 16
  const int size = n + n / 16, half = n / 2;
  const size_t first = static_cast<size_t>(blockIdx.x) * n;
  float2* from = room;
  float2* to = room + size;
  for (int i = threadIdx.x; i < n; i += blockDim.x) from[gap(i)] = x[first + i];
  __syncthreads();
  for (int done = 1; done < n; done *= 2) {
    for (int j = threadIdx.x; j < half; j += blockDim.x) {
      const int k = j & (done - 1);
      const float2 even = from[gap(j)];
      const float2 odd = turn(0.5f * k / done) * from[gap(j + half)];
      const int at = 2 * (j - k) + k;
      to[gap(at)] = even + odd;
      to[gap(at + done)] = even - odd;
    }
    __syncthreads();
    float2* const other = from;
    from = to;
    to = other;
  }
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[first + i] = from[gap(i)];
}

}  // namespace

void launch_fft_radix2(const float2* d_x, float2* d_y, int n, int batch) {
  if (batch == 0) return;
  const int bytes = 2 * (n + n / 16) * static_cast<int>(sizeof(float2));
  if (bytes > 48 * 1024) {
    cudaFuncSetAttribute(autosort, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  }
  const int threads = n / 4 > 512 ? 512 : n / 4 > 32 ? n / 4 : 32;
  autosort<<<batch, threads, bytes>>>(d_x, d_y, n);
}
