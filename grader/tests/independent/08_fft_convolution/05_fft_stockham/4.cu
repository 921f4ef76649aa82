// Design: radix 4 passes (one of radix 2) between two buffers in shared memory, 256 threads
#include "05_fft_stockham.h"
#include "support.h"

namespace {

constexpr int kThreads = 256;

__device__ __forceinline__ void swap_buffers(float2*& a, float2*& b) {
  float2* const c = a;
  a = b, b = c;
}

// `done` points make a finished transform; kRadix of them become one.
template <int kN, int kRadix>
__device__ __forceinline__ void pass(const float2* from, float2* to, int done) {
  for (int j = threadIdx.x; j < kN / kRadix; j += kThreads) {
    const int in = j & (done - 1), first = (j - in) * kRadix + in;
    float2 u[kRadix];
#pragma unroll
    for (int r = 0; r < kRadix; ++r) u[r] = from[j + r * (kN / kRadix)];
    const float2 w = turn(static_cast<float>(in) / (done * kRadix));
    float2 power = w;
#pragma unroll
    for (int r = 1; r < kRadix; ++r) {
      u[r] = u[r] * power;
      power = power * w;
    }
    dft<kRadix>(u);
#pragma unroll
    for (int r = 0; r < kRadix; ++r) to[first + r * done] = u[r];
  }
  __syncthreads();
}

template <int kN>
__global__ void __launch_bounds__(kThreads) fft_in_shared(const float2* x, float2* y) {
  extern __shared__ float2 buffers[];  // two of kN
  constexpr bool kOdd = kN == 512 || kN == 2048;
  x += static_cast<size_t>(blockIdx.x) * kN;
  y += static_cast<size_t>(blockIdx.x) * kN;
  float2 *from = buffers, *to = buffers + kN;
  for (int i = threadIdx.x; i < kN; i += kThreads) from[i] = x[i];
  __syncthreads();
  int done = 1;
  if constexpr (kOdd) {  // n is twice a power of four
    pass<kN, 2>(from, to, done);
    swap_buffers(from, to);
    done = 2;
  }
  for (; done < kN; done *= 4) {
    pass<kN, 4>(from, to, done);
    swap_buffers(from, to);
  }
  for (int i = threadIdx.x; i < kN; i += kThreads) y[i] = from[i];
}

template <int kN>
void launch(const float2* d_x, float2* d_y, int batch) {
  constexpr int kBytes = 2 * kN * sizeof(float2);
  cudaFuncSetAttribute(fft_in_shared<kN>, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  fft_in_shared<kN><<<batch, kThreads, kBytes>>>(d_x, d_y);
}

}  // namespace

void launch_fft_stockham(const float2* d_x, float2* d_y, int n, int batch) {
  if (batch == 0) return;
  if (n == 256) launch<256>(d_x, d_y, batch);
  if (n == 512) launch<512>(d_x, d_y, batch);
  if (n == 1024) launch<1024>(d_x, d_y, batch);
  if (n == 2048) launch<2048>(d_x, d_y, batch);
  if (n == 4096) launch<4096>(d_x, d_y, batch);
}
