// 05/08 Look back: prefix sums of a long array in one kernel, in which tiles wait for each other.
//   x, y       n floats in device memory, 0 <= n <= 2^30; y[i] = x[0] + ... + x[i]
//   workspace  word 0 counts the tiles that are handed out, word 1 + t is the state of tile t
//   Given: block_inclusive_sum<kBlock>() in 07_scan_three_kernels_support.h, and in support.h
//   publish, read_state, status_of and value_of for the states. kBlock is a starting value, at
//   least 256. The starter scans one tile.
//   TODOs      2
#include "08_look_back.h"
#include "07_scan_three_kernels_support.h"
#include "support.h"

constexpr int kBlock = 1024;  // threads, and elements of a tile

// The sum of tiles 0 to tile - 1. One thread calls it; for all t < tile, tile t has published its
// total or its prefix, or is about to.
__device__ float look_back(const TileState* states, int tile) {
  //~ // TODO(2): What the lines above say. A prefix makes the tiles before it unnecessary, and a tile
  //~ // that has not been heard of is waited for (about 8 lines).
  //~ return 0.0f;
  //~begin 2
  float sum = 0.0f;
  for (int seen = tile - 1; seen >= 0; --seen) {
    TileState state = read_state(states + seen);
    while (status_of(state) == kNothing) state = read_state(states + seen);
    sum += value_of(state);
    if (status_of(state) == kPrefix) break;  // it has the tiles before it in it
  }
  return sum;
  //~end
}

__global__ void __launch_bounds__(kBlock)
    scan_tiles(const float* x, float* y, TileState* states, unsigned* handed_out, int n) {
  //~ // TODO(1): The block takes the next tile that nobody has taken, which is not always blockIdx.x.
  //~ // The others hear its total as soon as it is known, and its prefix as soon as that is known
  //~ // (about 16 lines).
  //~ const int i = threadIdx.x;
  //~ float total = 0.0f;
  //~ const float sum = block_inclusive_sum<kBlock>(i < n ? x[i] : 0.0f, &total);
  //~ if (i < n) y[i] = sum;
  //~begin 1
  __shared__ int tile_of_block;
  __shared__ float sum_before_tile;
  // All tiles before this one belong to blocks that run or have run, so waiting for them ends.
  if (threadIdx.x == 0) tile_of_block = atomicAdd(handed_out, 1u);
  __syncthreads();  // all need the number of the tile
  const int tile = tile_of_block;
  const int i = tile * kBlock + threadIdx.x;
  float total = 0.0f;
  const float sum = block_inclusive_sum<kBlock>(i < n ? x[i] : 0.0f, &total);
  if (threadIdx.x == 0) {
    if (tile > 0) publish(&states[tile], kTotal, total);
    const float before = look_back(states, tile);
    publish(&states[tile], kPrefix, before + total);
    sum_before_tile = before;
  }
  __syncthreads();  // all need what thread 0 has found
  if (i < n) y[i] = sum_before_tile + sum;
  //~end
}

void launch_look_back(const float* d_x, float* d_y, unsigned long long* d_workspace, int n) {
  unsigned* handed_out = reinterpret_cast<unsigned*>(d_workspace);
  TileState* states = d_workspace + 1;
  //~ // Still TODO(1): A block per tile. Before it starts, nothing has been handed out and nothing
  //~ // published, also at the second call (about 4 lines).
  //~ if (n > 0) scan_tiles<<<1, kBlock>>>(d_x, d_y, states, handed_out, n);
  //~begin 1
  const int tiles = (n + kBlock - 1) / kBlock;
  if (tiles == 0) return;
  cudaMemsetAsync(d_workspace, 0, (tiles + 1) * sizeof(*d_workspace));
  scan_tiles<<<tiles, kBlock>>>(d_x, d_y, states, handed_out, n);
  //~end
}
