// Two launches of my own kernel, blocks of 256
#include "03_block_reduce.h"
#include "support.h"
constexpr int kBlock = 256;
__device__ float block_sum(float v) {
  __shared__ float s[kBlock / 32];
  v = warp_sum(v);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) v = warp_sum(threadIdx.x < kBlock / 32 ? s[threadIdx.x] : 0.0f);
  return v;
}
__global__ void __launch_bounds__(kBlock) sum_tiles(const float* x, float* sums, int n) {
  float v = 0.0f;
  const float4* x4 = reinterpret_cast<const float4*>(x);
  const int fours = n / 4, stride = gridDim.x * kBlock, id = blockIdx.x * kBlock + threadIdx.x;
  int i = id;
  for (; i + 3 * stride < fours; i += 4 * stride) {
    const float4 a = x4[i], b = x4[i + stride], c = x4[i + 2 * stride], d = x4[i + 3 * stride];
    v += a.x + a.y + a.z + a.w + b.x + b.y + b.z + b.w + c.x + c.y + c.z + c.w + d.x + d.y + d.z + d.w;
  }
  for (; i < fours; i += stride) { const float4 a = x4[i]; v += a.x + a.y + a.z + a.w; }
  if (id < n % 4) v += x[fours * 4 + id];
  v = block_sum(v);
  if (threadIdx.x == 0) sums[blockIdx.x] = v;
}
void launch_block_reduce(const float* d_x, float* d_sum, float* d_partials, int n) {
  int sm = 0;
  cudaDeviceGetAttribute(&sm, cudaDevAttrMultiProcessorCount, 0);
  int blocks = (n + 4 * kBlock * 4 - 1) / (4 * kBlock * 4);
  if (blocks > sm * 8) blocks = sm * 8;
  if (blocks < 1) blocks = 1;
  if (blocks > kMostPartials) blocks = kMostPartials;
  sum_tiles<<<blocks, kBlock>>>(d_x, d_partials, n);
  sum_tiles<<<1, kBlock>>>(d_partials, d_sum, blocks);
}
