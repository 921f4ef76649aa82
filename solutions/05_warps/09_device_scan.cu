// 05/09 Device scan: prefix sums of an array of any length, read once and written once.
//   x, y       n floats in device memory, 0 <= n <= 2^30, aligned to 16 bytes
//   workspace  word 0 counts the tiles that are handed out, word 1 + t is the state of tile t
//   A block scans one tile, the sum of the tiles before comes from their states, and now a whole
//   warp looks back. Given in support.h: publish, read_state, load_part and store_part. Three
//   kernels pass as well, with half as many bytes more. The starter scans what a warp holds.
//   TODOs      3
#include "09_device_scan.h"
#include "06_block_scan_support.h"
#include "support.h"

constexpr int kBlock = 1024;               // threads
constexpr int kWarps = kBlock / kWarp;     // of a block
constexpr int kLoads = 8;                  // float4 that a thread holds
constexpr int kPart = kLoads * 4 * kWarp;  // 1024 floats of a warp
constexpr int kTile = kPart * kWarps;      // 32768 floats of a block: few states to look back on

// Scans the part of a warp in place: v[k] of lane l becomes the sums up to each of its 4 floats.
__device__ void scan_part(float4 (&v)[kLoads]) {
  //~ // TODO(1): Each of the 32 * kLoads * 4 floats becomes the sum of those up to it. Load k holds
  //~ // floats 128 k to 128 k + 127 of the part, four of them in each lane (about 12 lines).
  //~begin 1
  const int lane = threadIdx.x % kWarp;
  float carry = 0.0f;  // the sum of loads 0 to k - 1, in every lane
#pragma unroll
  for (int k = 0; k < kLoads; ++k) {
    v[k].y += v[k].x;
    v[k].z += v[k].y;
    v[k].w += v[k].z;
    const float up_to_lane = warp_inclusive_sum(v[k].w);
    const float shifted = __shfl_up_sync(kAllLanes, up_to_lane, 1);
    const float before = carry + (lane == 0 ? 0.0f : shifted);
    v[k] = make_float4(before + v[k].x, before + v[k].y, before + v[k].z, before + v[k].w);
    carry += __shfl_sync(kAllLanes, up_to_lane, kWarp - 1);
  }
  //~end
}

// The sum of tiles 0 to tile - 1, in every lane of the one warp that calls it. For all t < tile,
// tile t has published its total or its prefix, or is about to.
__device__ float look_back(const TileState* states, int tile) {
  //~ // TODO(2): The 32 lanes look at 32 tiles at a time, from the nearest one back, and no further
  //~ // than to a tile that knows its prefix. No total is counted that is not there yet (about 20
  //~ // lines).
  //~ return 0.0f;
  //~begin 2
  const int lane = threadIdx.x % kWarp;
  float sum = 0.0f;
  // The tiles before have begun a moment ago as well. Asking at once costs them bandwidth and finds
  // nothing; half a microsecond later is best on an H200.
  __nanosleep(500);
  for (int nearest = tile - 1;; nearest -= kWarp) {
    const int seen = nearest - lane;  // before tile 0 the sum is known: 0
    TileState state = seen >= 0 ? read_state(states + seen) : static_cast<TileState>(kPrefix) << 32;
    unsigned with_prefix = 0, counted = 0;  // a bit per lane
    while (true) {
      const unsigned status = static_cast<unsigned>(state >> 32);
      const unsigned silent = __ballot_sync(kAllLanes, status == kNothing);
      with_prefix = __ballot_sync(kAllLanes, status == kPrefix);
      counted = with_prefix ^ (with_prefix - 1);  // up to the nearest prefix; all if there is none
      if ((silent & counted) == 0) break;
      if (status == kNothing) state = read_state(states + seen);
    }
    const float value = __uint_as_float(static_cast<unsigned>(state));
    sum += warp_sum(counted >> lane & 1 ? value : 0.0f);
    if (with_prefix != 0) return sum;
  }
  //~end
}

__global__ void __launch_bounds__(kBlock)
    scan_tiles(const float* x, float* y, TileState* states, unsigned* handed_out, int n) {
  //~ // TODO(3): Tiles go to blocks in the order in which blocks start. A tile publishes what others
  //~ // wait for as soon as it knows it, and in the end y has the sums up to each element (about 30
  //~ // lines). This scans the parts of the first tile, each for itself.
  //~ float4 v[kLoads];
  //~ load_part(x, threadIdx.x / kWarp * kPart, n, v);
  //~ scan_part(v);
  //~ store_part(y, threadIdx.x / kWarp * kPart, n, v);
  //~begin 3
  __shared__ int tile_of_block;
  __shared__ float part_sums[kWarps];  // [warp]
  __shared__ float sum_before_tile;
  const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  // Tiles go to blocks in the order in which blocks start, so all tiles before belong to blocks
  // that run or have run: waiting for them ends. blockIdx.x promises no order.
  if (threadIdx.x == 0) tile_of_block = atomicAdd(handed_out, 1u);
  __syncthreads();  // all need the number of the tile
  const int tile = tile_of_block;
  const int first = tile * kTile + warp * kPart;  // of this warp
  float4 v[kLoads];
  load_part(x, first, n, v);

  // The total first, the scan later: other tiles wait for the total only.
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < kLoads; ++k) sum += (v[k].x + v[k].y) + (v[k].z + v[k].w);
  sum = warp_sum(sum);
  if (lane == 0) part_sums[warp] = sum;
  __syncthreads();  // the first warp adds up the sums of all
  const float total = warp_sum(lane < kWarps ? part_sums[lane] : 0.0f);
  if (threadIdx.x == 0) publish(&states[tile], tile == 0 ? kPrefix : kTotal, total);
  scan_part(v);
  if (warp == 0) {
    const float before = look_back(states, tile);
    if (lane == 0) {
      if (tile > 0) publish(&states[tile], kPrefix, before + total);
      sum_before_tile = before;
    }
  }
  __syncthreads();  // all need what the first warp has found
  const float sums = warp_inclusive_sum(lane < kWarps ? part_sums[lane] : 0.0f);
  const float parts_before = __shfl_sync(kAllLanes, sums, warp == 0 ? 0 : warp - 1);
  const float before = sum_before_tile + (warp == 0 ? 0.0f : parts_before);
#pragma unroll
  for (int k = 0; k < kLoads; ++k) {
    v[k] = make_float4(before + v[k].x, before + v[k].y, before + v[k].z, before + v[k].w);
  }
  store_part(y, first, n, v);
  //~end
}

void launch_device_scan(const float* d_x, float* d_y, unsigned long long* d_workspace, int n) {
  const int tiles = (n + kTile - 1) / kTile;
  if (tiles == 0) return;
  //~ // Still TODO(3): No tile has been handed out and none has published anything, also at the second
  //~ // call; then a block per tile (3 lines).
  //~ scan_tiles<<<1, kBlock>>>(d_x, d_y, d_workspace + 1, reinterpret_cast<unsigned*>(d_workspace), n);
  //~begin 3
  unsigned* handed_out = reinterpret_cast<unsigned*>(d_workspace);
  cudaMemsetAsync(d_workspace, 0, (tiles + 1) * sizeof(*d_workspace));
  scan_tiles<<<tiles, kBlock>>>(d_x, d_y, d_workspace + 1, handed_out, n);
  //~end
}
