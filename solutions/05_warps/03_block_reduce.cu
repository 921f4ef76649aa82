// 05/03 Block reduce: the sum of a long array, in two launches of one kernel, beside CUB.
//   x         n floats in device memory, 0 <= n <= 2^30, aligned to 16 bytes
//   partials  one float per block of the first launch; the second launch, one block, adds them up
//   Given: warp_sum() in support.h, which every lane of a warp must call and which tells every
//   lane. The constants are starting values.
//   TODOs     3
#include "03_block_reduce.h"
#include "support.h"

constexpr int kBlock = 512;                    // threads
inline constexpr int kWarps = kBlock / kWarp;  // of a block
constexpr int kLoads = 4;                      // 16-byte loads that a thread has in flight
inline constexpr int kFloatsPerTile = 4 * kLoads * kBlock;  // 8192: what a block loads at a time
inline constexpr int kBlocksPerMultiprocessor = 4;          // as many as 2048 threads allow

// The sum of the values of all threads of the block, in thread 0.
__device__ float block_sum(float value) {
  //~ // TODO(1): Thread 0 returns the sum of all threads' values; what a warp can do in registers is
  //~ // done in registers, and the warps meet once (about 7 lines).
  //~ return value;
  //~begin 1
  __shared__ float warp_sums[kWarps];  // [warp]
  const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  value = warp_sum(value);
  if (lane == 0) warp_sums[warp] = value;
  __syncthreads();  // the first warp must see the sums of all warps
  if (warp == 0) value = warp_sum(lane < kWarps ? warp_sums[lane] : 0.0f);
  return value;
  //~end
}

// sums[b] = what block b adds up; the blocks share out x between them.
__global__ void __launch_bounds__(kBlock) sum_tiles(const float* x, float* sums, int n) {
  float sum = 0.0f;
  //~ // TODO(2): Every element is in the sum of one thread, whatever n and the grid are. It is loaded
  //~ // once, 16 bytes at a time as far as that goes, kLoads loads under way together (about 13 lines).
  //~ if (threadIdx.x < n) sum = x[threadIdx.x];
  //~begin 2
  const int tiles = n / kFloatsPerTile;
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const float4* from = reinterpret_cast<const float4*>(x) + tile * (kLoads * kBlock);
    float4 v[kLoads];  // [load]: neighbouring threads hold neighbouring float4
#pragma unroll
    for (int k = 0; k < kLoads; ++k) v[k] = __ldcs(from + k * kBlock + threadIdx.x);  // read once
#pragma unroll
    for (int k = 0; k < kLoads; ++k) sum += (v[k].x + v[k].y) + (v[k].z + v[k].w);
  }
  // Less than a tile is left: one float each for the first threads of the grid.
  const int first = tiles * kFloatsPerTile + blockIdx.x * kBlock + threadIdx.x;
  for (int i = first; i < n; i += gridDim.x * kBlock) sum += x[i];
  //~end
  sum = block_sum(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

void launch_block_reduce(const float* d_x, float* d_sum, float* d_partials, int n) {
  //~ // TODO(3): Two launches: the blocks that the card can hold at once, but no more than
  //~ // kMostPartials and none without work, share out x; then one block adds up what they left (about
  //~ // 9 lines).
  //~ sum_tiles<<<1, kBlock>>>(d_x, d_sum, n);
  //~begin 3
  int device = 0, multiprocessors = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  const int wanted = n / kFloatsPerTile + 1;
  const int resident = multiprocessors * kBlocksPerMultiprocessor;
  const int room = resident < kMostPartials ? resident : kMostPartials;
  const int grid = wanted < room ? wanted : room;
  sum_tiles<<<grid, kBlock>>>(d_x, d_partials, n);
  sum_tiles<<<1, kBlock>>>(d_partials, d_sum, grid);
  //~end
}
