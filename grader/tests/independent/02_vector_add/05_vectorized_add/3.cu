// Design: one float4 per thread, as many blocks as there is work
#include "05_vectorized_add.h"

constexpr int kBlock = 256, kEach = 1;  // float4 of a thread, a block apart

__global__ void __launch_bounds__(kBlock)
    vector_add_float4(const float* a, const float* b, float* c, int n) {
  const float4* const a4 = reinterpret_cast<const float4*>(a);
  const float4* const b4 = reinterpret_cast<const float4*>(b);
  float4* const c4 = reinterpret_cast<float4*>(c);
  const int fours = n / 4;
  for (int first = blockIdx.x * kBlock * kEach; first < fours; first += gridDim.x * kBlock * kEach) {
    float4 x[kEach], y[kEach];
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      const int i = first + j * kBlock + threadIdx.x;
      if (i < fours) x[j] = a4[i], y[j] = b4[i];
    }
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      const int i = first + j * kBlock + threadIdx.x;
      if (i < fours) {
        c4[i] = make_float4(x[j].x + y[j].x, x[j].y + y[j].y, x[j].z + y[j].z, x[j].w + y[j].w);
      }
    }
  }
  const int tail = 4 * fours + threadIdx.x;
  if (blockIdx.x == 0 && threadIdx.x < 4 && tail < n) c[tail] = a[tail] + b[tail];
}

void launch_vectorized_add(const float* d_a, const float* d_b, float* d_c, int n) {
  if (n == 0) return;
  const int needed = n / (4 * kBlock * kEach) + 1, most = 1 << 21;
  vector_add_float4<<<needed < most ? needed : most, kBlock>>>(d_a, d_b, d_c, n);
}
