// Design: 512 threads, 4 loads of 16 bytes in flight, shuffles
#include "03_block_reduce.h"
#include "support.h"

constexpr int kBlock = 512;

__device__ float sum_of_warp(float v) {
  for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(0xFFFFFFFFu, v, step);
  return v;
}

__device__ float block_sum(float v) {
  __shared__ float sums[kBlock / 32];
  v = sum_of_warp(v);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) v = sum_of_warp(threadIdx.x < kBlock / 32 ? sums[threadIdx.x] : 0.0f);
  return v;
}

__global__ void __launch_bounds__(kBlock) sum_tiles(const float* x, float* sums, int n) {
  float v = 0.0f;
  constexpr int kLoads = 4;
  const int fours = n / 4, stride = gridDim.x * kBlock, first = blockIdx.x * kBlock + threadIdx.x;
  const float4* const x4 = reinterpret_cast<const float4*>(x);
  long long i = first;
  for (; i + (kLoads - 1LL) * stride < fours; i += static_cast<long long>(kLoads) * stride) {
    float4 held[kLoads];
#pragma unroll
    for (int j = 0; j < kLoads; ++j) held[j] = x4[i + static_cast<long long>(j) * stride];
#pragma unroll
    for (int j = 0; j < kLoads; ++j) v += held[j].x + held[j].y + held[j].z + held[j].w;
  }
  for (; i < fours; i += stride) {
    const float4 held = x4[i];
    v += held.x + held.y + held.z + held.w;
  }
  if (first < n % 4) v += x[4 * fours + first];
  v = block_sum(v);
  if (threadIdx.x == 0) sums[blockIdx.x] = v;
}

void launch_block_reduce(const float* d_x, float* d_sum, float* d_partials, int n) {
  int device = 0, multiprocessors = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  const int needed = (n + kBlock - 1) / kBlock, most = 4 * multiprocessors;
  int blocks = needed < most ? needed : most;
  if (blocks > kMostPartials) blocks = kMostPartials;
  if (blocks > 0) sum_tiles<<<blocks, kBlock>>>(d_x, d_partials, n);
  sum_tiles<<<1, kBlock>>>(d_partials, d_sum, blocks);
}
