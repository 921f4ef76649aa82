// 05/07 Device scan: prefix sums of an array of any length, read once and written once.
//   x, y       n floats in device memory, 0 <= n <= 2^30, aligned to 16 bytes
//   workspace  word 0 counts the tiles that are handed out, word 1 + t is the state of tile t
//   A block scans one tile; the sum of the tiles before comes from their states, by look_back() in
//   support.h (given, as are publish, load_part and store_part). Three kernels that sum the tiles,
//   scan the sums and scan the tiles pass as well, with half as many bytes more.
//   TODOs      3
#include "07_device_scan.h"
#include "support.h"

constexpr int kBlock = 1024;               // threads
constexpr int kWarps = kBlock / kWarp;     // of a block
constexpr int kLoads = 8;                  // float4 that a thread holds
constexpr int kPart = kLoads * 4 * kWarp;  // 1024 floats of a warp
constexpr int kTile = kPart * kWarps;      // 32768 floats of a block: few states to look back on

// Scans the part of a warp in place: v[k] of lane l becomes the sums up to each of its 4 floats.
__device__ void scan_part(float4 (&v)[kLoads]) {
  // TODO(1): Scan each float4, then the lanes (warp_inclusive_sum), and carry from load to load
  // (about 11 lines). Load k holds floats 128 k to 128 k + 127 of the part.
}

__global__ void __launch_bounds__(kBlock)
    scan_tiles(const float* x, float* y, TileState* states, unsigned* handed_out, int n) {
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
  // TODO(2): One lane of the first warp publishes the total of the tile (tile 0 knows more: its
  // prefix). Then the warp looks back, and one lane publishes the prefix and leaves what it found
  // in sum_before_tile (about 8 lines).
  if (threadIdx.x == 0) sum_before_tile = 0.0f * total;
  scan_part(v);
  __syncthreads();  // all need what the first warp has found
  const float sums = warp_inclusive_sum(lane < kWarps ? part_sums[lane] : 0.0f);
  const float parts_before = __shfl_sync(kAllLanes, sums, warp == 0 ? 0 : warp - 1);
  const float before = sum_before_tile + (warp == 0 ? 0.0f : parts_before);
#pragma unroll
  for (int k = 0; k < kLoads; ++k) {
    v[k] = make_float4(before + v[k].x, before + v[k].y, before + v[k].z, before + v[k].w);
  }
  store_part(y, first, n, v);
}

void launch_device_scan(const float* d_x, float* d_y, unsigned long long* d_workspace, int n) {
  const int tiles = (n + kTile - 1) / kTile;
  if (tiles == 0) return;
  // TODO(3): No tile has been handed out, none has published anything (kNothing is 0): clear word
  // 0 and the states. Then a block per tile; states begin at word 1 (3 lines).
}
