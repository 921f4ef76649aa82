// 05/07 Scan in three kernels: prefix sums of an array that is too long for a block.
//   x, y     n floats in device memory, 0 <= n <= 2^30; y[i] = x[0] + ... + x[i]
//   totals   a float for every tile of x; a tile is what one block scans
//   Given: block_inclusive_sum<kBlock>() in 07_scan_three_kernels_support.h, which every thread of
//   a block must call. kBlock and kTile are starting values; kTile is at least 1024, because of
//   the room in totals.
//   TODOs    3
#include "07_scan_three_kernels.h"
#include "07_scan_three_kernels_support.h"
#include "support.h"

constexpr int kBlock = 256;         // threads
inline constexpr int kTile = 2048;  // floats that a block goes through, chunk by chunk

// Block t: totals[t] = the sum of tile t.
__global__ void __launch_bounds__(kBlock) sum_tiles(const float* x, float* totals, int n) {
  // TODO(1): What the line above says; the last tile may be shorter (about 7 lines).
}

// One block: totals[t] becomes the sum of tiles 0 to t, for any number of tiles.
__global__ void __launch_bounds__(kBlock) scan_totals(float* totals, int tiles) {
  // TODO(2): What the line above says (about 8 lines).
}

// Block t scans tile t, on top of what the tiles before it add up to.
__global__ void __launch_bounds__(kBlock)
    scan_tiles(const float* x, const float* totals, float* y, int n) {
  // TODO(3): What the line above says; x is read once here (about 10 lines).
}

void launch_scan_three_kernels(const float* d_x, float* d_y, float* d_totals, int n) {
  // Still TODO(3): The launches; none for no elements (about 5 lines).
}
