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
  // TODO(1): Each of the 32 * kLoads * 4 floats becomes the sum of those up to it. Load k holds
  // floats 128 k to 128 k + 127 of the part, four of them in each lane (about 12 lines).
}

// The sum of tiles 0 to tile - 1, in every lane of the one warp that calls it. For all t < tile,
// tile t has published its total or its prefix, or is about to.
__device__ float look_back(const TileState* states, int tile) {
  // TODO(2): The 32 lanes look at 32 tiles at a time, from the nearest one back, and no further
  // than to a tile that knows its prefix. No total is counted that is not there yet (about 20
  // lines).
  return 0.0f;
}

__global__ void __launch_bounds__(kBlock)
    scan_tiles(const float* x, float* y, TileState* states, unsigned* handed_out, int n) {
  // TODO(3): Tiles go to blocks in the order in which blocks start. A tile publishes what others
  // wait for as soon as it knows it, and in the end y has the sums up to each element (about 30
  // lines). This scans the parts of the first tile, each for itself.
  float4 v[kLoads];
  load_part(x, threadIdx.x / kWarp * kPart, n, v);
  scan_part(v);
  store_part(y, threadIdx.x / kWarp * kPart, n, v);
}

void launch_device_scan(const float* d_x, float* d_y, unsigned long long* d_workspace, int n) {
  const int tiles = (n + kTile - 1) / kTile;
  if (tiles == 0) return;
  // Still TODO(3): No tile has been handed out and none has published anything, also at the second
  // call; then a block per tile (3 lines).
  scan_tiles<<<1, kBlock>>>(d_x, d_y, d_workspace + 1, reinterpret_cast<unsigned*>(d_workspace), n);
}
