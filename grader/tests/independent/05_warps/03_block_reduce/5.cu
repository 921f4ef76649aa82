// one launch: sum set to 0 by cudaMemsetAsync, one atomicAdd per block, partials unused; block of 256 and 8 loads
#include "03_block_reduce.h"
#include "support.h"

constexpr int kBlock = 256;
inline constexpr int kWarps = kBlock / kWarp;
constexpr int kLoads = 8;
inline constexpr int kFloatsPerTile = 4 * kLoads * kBlock;
inline constexpr int kBlocksPerMultiprocessor = 8;

__device__ float block_sum(float value) {
  __shared__ float sums[kWarps];
  value = warp_sum(value);
  if (threadIdx.x % kWarp == 0) sums[threadIdx.x / kWarp] = value;
  __syncthreads();
  if (threadIdx.x < kWarp) value = warp_sum(threadIdx.x < kWarps ? sums[threadIdx.x] : 0.0f);
  return value;
}

__global__ void __launch_bounds__(kBlock) sum_tiles(const float* x, float* sums, int n) {
  const float4* fours = reinterpret_cast<const float4*>(x);
  const int groups = n / 4, stride = gridDim.x * kLoads * kBlock;
  float sum = 0.0f;
  for (int first = blockIdx.x * kLoads * kBlock + threadIdx.x; first < groups; first += stride) {
    float4 v[kLoads];
#pragma unroll
    for (int k = 0; k < kLoads; ++k) {
      const int i = first + k * kBlock;
      v[k] = i < groups ? fours[i] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
#pragma unroll
    for (int k = 0; k < kLoads; ++k) sum += v[k].x + v[k].y + (v[k].z + v[k].w);
  }
  if (blockIdx.x == 0 && threadIdx.x < n % 4) sum += x[4 * groups + threadIdx.x];
  sum = block_sum(sum);
  if (threadIdx.x == 0) atomicAdd(sums, sum);
}

void launch_block_reduce(const float* d_x, float* d_sum, float* d_partials, int n) {
  int device = 0, multiprocessors = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  int blocks = multiprocessors * kBlocksPerMultiprocessor;
  const int needed = n > 0 ? (n - 1) / kFloatsPerTile + 1 : 1;
  if (blocks > needed) blocks = needed;
  if (blocks > kMostPartials) blocks = kMostPartials;
  (void)d_partials;
  cudaMemsetAsync(d_sum, 0, sizeof(float));
  if (n > 0) sum_tiles<<<blocks, kBlock>>>(d_x, d_sum, n);
}
