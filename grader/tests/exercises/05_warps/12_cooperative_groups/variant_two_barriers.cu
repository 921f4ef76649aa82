// Another right answer: shfl_down and a broadcast, and block 0 alone adds up the partial sums.
#include <cooperative_groups.h>

#include "12_cooperative_groups.h"

namespace groups = cooperative_groups;

template <class Tile>
__device__ float sum_of(const Tile& tile, float value) {
  for (unsigned offset = 1; offset < tile.size(); offset *= 2) {
    value += tile.shfl_down(value, offset);
  }
  return tile.shfl(value, 0);
}

__global__ void sum_octets_down(const float* x, float* sums, int n) {
  const auto tile = groups::tiled_partition<8>(groups::this_thread_block());
  const int octet = blockIdx.x * tile.meta_group_size() + tile.meta_group_rank();
  const int i = 8 * octet + tile.thread_rank();
  const float sum = sum_of(tile, i < n ? x[i] : 0.0f);
  if (tile.thread_rank() == 7 && 8 * octet < n) sums[octet] = sum;
}

// A block is one warp.
__global__ void normalise_by_warps(const float* x, float* y, float* partials, int n) {
  const auto grid = groups::this_grid();
  const auto warp = groups::tiled_partition<32>(groups::this_thread_block());
  float squares = 0.0f;
  for (unsigned i = grid.thread_rank(); i < n; i += grid.size()) squares += x[i] * x[i];
  squares = sum_of(warp, squares);
  if (warp.thread_rank() == 0) partials[blockIdx.x] = squares;
  grid.sync();
  if (blockIdx.x == 0) {
    float sum = 0.0f;
    for (unsigned b = threadIdx.x; b < gridDim.x; b += 32) sum += partials[b];
    sum = sum_of(warp, sum);
    if (threadIdx.x == 0) partials[0] = sum;
  }
  grid.sync();
  const float length = sqrtf(partials[0]);
  for (unsigned i = grid.thread_rank(); i < n; i += grid.size()) y[i] = x[i] / length;
}

void launch_sum_octets(const float* d_x, float* d_sums, int n) {
  if (n > 0) sum_octets_down<<<(n + 127) / 128, 128>>>(d_x, d_sums, n);
}

void launch_normalise(const float* d_x, float* d_y, float* d_partials, int n) {
  int grid = (n + 31) / 32;
  if (grid > 512) grid = 512;
  void* arguments[] = {&d_x, &d_y, &d_partials, &n};
  cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(normalise_by_warps), grid, 32,
                              arguments);
}
