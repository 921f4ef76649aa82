// 05/10 Cooperative groups: groups of threads as objects, from 8 neighbours to the whole grid.
//   sum_octets  tiles of 8 threads: each sums 8 neighbouring floats
//   normalise   y = x / |x| in one launch: all blocks sum, all blocks meet, all blocks scale
//   A tile offers shfl_xor(), size() and thread_rank(); a grid offers sync(), if its launch is
//   cooperative and all its blocks fit on the card at the same time.
//   TODOs       3
#include <cooperative_groups.h>

#include "10_cooperative_groups.h"

namespace cg = cooperative_groups;

constexpr int kBlock = 1024;  // threads: few blocks have to meet
constexpr int kWarp = 32;

// The sum of the values of all threads of the tile, in each of them; size() is a power of two.
template <class Tile>
__device__ float tile_sum(const Tile& tile, float value) {
  //~ // TODO(1): A reduction that asks the tile for its size (shfl_xor; about 3 lines).
  //~ return tile.size() == 1 ? value : 0.0f;
  //~begin 1
  for (int offset = tile.size() / 2; offset > 0; offset /= 2) {
    value += tile.shfl_xor(value, offset);  // knows its lanes: there is no mask to get wrong
  }
  return value;
  //~end
}

__global__ void sum_octets(const float* x, float* sums, int n) {
  const auto octet = cg::tiled_partition<kOctet>(cg::this_thread_block());
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float sum = tile_sum(octet, i < n ? x[i] : 0.0f);
  if (octet.thread_rank() == 0 && i < n) sums[i / kOctet] = sum;
}

// The sum of the values of all threads of the block, in thread 0.
__device__ float block_sum(float value) {
  __shared__ float of_warp[kBlock / kWarp];  // [warp], as many as a warp has lanes
  const cg::thread_block block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<kWarp>(block);
  value = tile_sum(warp, value);
  if (warp.thread_rank() == 0) of_warp[warp.meta_group_rank()] = value;
  block.sync();  // the first warp reads the sums of all
  return warp.meta_group_rank() == 0 ? tile_sum(warp, of_warp[warp.thread_rank()]) : 0.0f;
}

__global__ void __launch_bounds__(kBlock)
    normalise(const float* x, float* y, float* partials, int n) {
  __shared__ float factor;
  const cg::grid_group grid = cg::this_grid();
  float squares = 0.0f;
  for (int i = grid.thread_rank(); i < n; i += grid.size()) squares += x[i] * x[i];
  const float of_block = block_sum(squares);
  //~ // TODO(2): Leave the sum of this block in partials, and let the whole grid meet. Then each block
  //~ // adds up all partials in a fixed order, and thread 0 sets the factor (about 7 lines).
  //~ if (threadIdx.x == 0) factor = rsqrtf(of_block + partials[blockIdx.x] * 0.0f);
  //~begin 2
  if (threadIdx.x == 0) partials[blockIdx.x] = of_block;
  grid.sync();  // also a barrier of the block: block_sum may be called again
  float sum = 0.0f;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += kBlock) sum += partials[b];
  sum = block_sum(sum);
  if (threadIdx.x == 0) factor = rsqrtf(sum);
  //~end
  __syncthreads();  // all threads of the block need the factor
  for (int i = grid.thread_rank(); i < n; i += grid.size()) y[i] = x[i] * factor;
}

void launch_sum_octets(const float* d_x, float* d_sums, int n) {
  const int grid = (n + kBlock - 1) / kBlock;
  if (grid > 0) sum_octets<<<grid, kBlock>>>(d_x, d_sums, n);
}

void launch_normalise(const float* d_x, float* d_y, float* d_partials, int n) {
  int device = 0, multiprocessors = 0, blocks_each = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_each, normalise, kBlock, 0);
  //~ // TODO(3): As many blocks as n needs, but no more than fit on the card at once or than
  //~ // kMostBlocks; then cudaLaunchCooperativeKernel (about 5 lines).
  //~begin 3
  int grid = (n + kBlock - 1) / kBlock;
  if (grid > multiprocessors * blocks_each) grid = multiprocessors * blocks_each;
  if (grid > kMostBlocks) grid = kMostBlocks;
  void* arguments[] = {&d_x, &d_y, &d_partials, &n};
  cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(normalise), grid, kBlock, arguments);
  //~end
}
