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
  return value;  // TODO(1): For tiles of every size, without a mask (about 4 lines).
}

__global__ void sum_octets(const float* x, float* sums, int n) {
  // Still TODO(1): sums[g] is the sum of octet g, also of a last one that is not full (about 4
  // lines).
}

// The sum of the values of all threads of the block, in thread 0.
__device__ float block_sum(float value) {
  return value;  // TODO(2): With tile_sum for the warps and for their sums (about 6 lines).
}

__global__ void __launch_bounds__(kBlock)
    normalise(const float* x, float* y, float* partials, int n) {
  // Still TODO(2): No block scales before every block has summed; the threads of the grid share the
  // work, whatever n and the grid are, and all blocks get the same factor (about 14 lines).
}

void launch_sum_octets(const float* d_x, float* d_sums, int n) {
  // Still TODO(1): A thread for every element (about 2 lines).
}

void launch_normalise(const float* d_x, float* d_y, float* d_partials, int n) {
  // TODO(3): As many blocks as n needs, but no more than the card holds at the same time and than
  // kMostBlocks (about 9 lines). This is a cooperative launch, of a single block.
  void* arguments[] = {&d_x, &d_y, &d_partials, &n};
  cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(normalise), 1, kBlock, arguments);
}
