// 05/02 Warp reduce: the lanes of a warp combine their values through registers.
//   x          rows x cols floats in device memory, row-major; any rows >= 0, cols >= 1
//   One warp per row, and a row may be longer than a warp. No shared memory, no barrier, no
//   atomics. The block is yours; the 32 lanes of a warp have neighbouring threadIdx.x.
//   TODOs      2
#include "02_warp_reduce.h"

inline constexpr unsigned kAllLanes = 0xffffffffu;
inline constexpr int kBlock = 256;  // threads: 8 warps, 8 rows

// The sum of the values of all 32 lanes, in lane 0. What the others get does not matter.
__device__ float sum_to_lane_0(float value) {
  // TODO(1): Lane 0 returns the sum of all 32 values, after five shuffles (about 4 lines).
  return value;
}

// The greatest of the values of all 32 lanes, in every lane.
__device__ float warp_max(float value) {
  // TODO(2): Every lane returns the same greatest value, after five shuffles (about 4 lines).
  return value;
}

__global__ void sum_rows(const float* x, float* sums, int rows, int cols) {
  // Still TODO(1): sums[row] is the sum of the row, for rows of any length (about 7 lines).
}

__global__ void subtract_row_max(const float* x, float* y, int rows, int cols) {
  // Still TODO(2): y is x less the greatest value of its row; all values may be negative (about 8
  // lines).
}

void launch_sum_rows(const float* d_x, float* d_sums, int rows, int cols) {
  // Still TODO(1): A warp for every row; no launch for no rows (about 2 lines).
}

void launch_subtract_row_max(const float* d_x, float* d_y, int rows, int cols) {
  // Still TODO(2): The same (about 2 lines).
}
