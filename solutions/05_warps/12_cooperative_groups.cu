// 05/12 Cooperative groups: groups of threads as objects, from 8 neighbours to the whole grid.
//   sum_octets  tiles of 8 threads: each sums 8 neighbouring floats
//   normalise   y = x / |x| in one launch: all blocks sum, all blocks meet, all blocks scale
//   A tile offers shfl_xor(), size() and thread_rank(); a grid offers sync(), size() and
//   thread_rank(), if its launch is cooperative and all its blocks fit on the card at the same
//   time.
//   TODOs       3
#include <cooperative_groups.h>

#include "12_cooperative_groups.h"

namespace cg = cooperative_groups;

constexpr int kBlock = 1024;  // threads: few blocks have to meet
inline constexpr int kWarp = 32;

// The sum of the values of all threads of the tile, in each of them; size() is a power of two.
template <class Tile>
__device__ float tile_sum(const Tile& tile, float value) {
  //~ return value;  // TODO(1): For tiles of every size, without a mask (about 4 lines).
  //~begin 1
  for (int offset = tile.size() / 2; offset > 0; offset /= 2) {
    value += tile.shfl_xor(value, offset);  // knows its lanes: there is no mask to get wrong
  }
  return value;
  //~end
}

__global__ void sum_octets(const float* x, float* sums, int n) {
  //~ // Still TODO(1): sums[g] is the sum of octet g, also of a last one that is not full (about 4
  //~ // lines).
  //~begin 1
  const auto octet = cg::tiled_partition<kOctet>(cg::this_thread_block());
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float sum = tile_sum(octet, i < n ? x[i] : 0.0f);
  if (octet.thread_rank() == 0 && i < n) sums[i / kOctet] = sum;
  //~end
}

// The sum of the values of all threads of the block, in thread 0.
__device__ float block_sum(float value) {
  //~ return value;  // TODO(2): With tile_sum for the warps and for their sums (about 6 lines).
  //~begin 2
  __shared__ float of_warp[kBlock / kWarp];  // [warp], as many as a warp has lanes
  const cg::thread_block block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<kWarp>(block);
  value = tile_sum(warp, value);
  if (warp.thread_rank() == 0) of_warp[warp.meta_group_rank()] = value;
  block.sync();  // the first warp reads the sums of all
  return warp.meta_group_rank() == 0 ? tile_sum(warp, of_warp[warp.thread_rank()]) : 0.0f;
  //~end
}

__global__ void __launch_bounds__(kBlock)
    normalise(const float* x, float* y, float* partials, int n) {
  //~ // Still TODO(2): No block scales before every block has summed; the threads of the grid share the
  //~ // work, whatever n and the grid are, and all blocks get the same factor (about 14 lines).
  //~begin 2
  __shared__ float factor;
  const cg::grid_group grid = cg::this_grid();
  float squares = 0.0f;
  for (int i = grid.thread_rank(); i < n; i += grid.size()) squares += x[i] * x[i];
  const float of_block = block_sum(squares);
  if (threadIdx.x == 0) partials[blockIdx.x] = of_block;
  grid.sync();  // also a barrier of the block: block_sum may be called again
  float sum = 0.0f;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += kBlock) sum += partials[b];
  sum = block_sum(sum);
  if (threadIdx.x == 0) factor = rsqrtf(sum);
  __syncthreads();  // all threads of the block need the factor
  for (int i = grid.thread_rank(); i < n; i += grid.size()) y[i] = x[i] * factor;
  //~end
}

void launch_sum_octets(const float* d_x, float* d_sums, int n) {
  //~ // Still TODO(1): A thread for every element (about 2 lines).
  //~begin 1
  const int grid = (n + kBlock - 1) / kBlock;
  if (grid > 0) sum_octets<<<grid, kBlock>>>(d_x, d_sums, n);
  //~end
}

void launch_normalise(const float* d_x, float* d_y, float* d_partials, int n) {
  //~ // TODO(3): As many blocks as n needs, but no more than the card holds at the same time and than
  //~ // kMostBlocks (about 9 lines). This is a cooperative launch, of a single block.
  //~ void* arguments[] = {&d_x, &d_y, &d_partials, &n};
  //~ cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(normalise), 1, kBlock, arguments);
  //~begin 3
  int device = 0, multiprocessors = 0, blocks_each = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_each, normalise, kBlock, 0);
  int grid = (n + kBlock - 1) / kBlock;
  if (grid > multiprocessors * blocks_each) grid = multiprocessors * blocks_each;
  if (grid > kMostBlocks) grid = kMostBlocks;
  void* arguments[] = {&d_x, &d_y, &d_partials, &n};
  cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(normalise), grid, kBlock, arguments);
  //~end
}
