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
  //~ // TODO(1): Lane 0 returns the sum of all 32 values, after five shuffles (about 4 lines).
  //~ return value;
  //~begin 1
  // 16, 8, 4, 2, 1: after each step the first `offset` lanes hold the whole sum between them.
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_down_sync(kAllLanes, value, offset);
  }
  return value;
  //~end
}

// The greatest of the values of all 32 lanes, in every lane.
__device__ float warp_max(float value) {
  //~ // TODO(2): Every lane returns the same greatest value, after five shuffles (about 4 lines).
  //~ return value;
  //~begin 2
  // Partners take the same of the same two values, so afterwards both know it.
  for (int offset = 16; offset > 0; offset /= 2) {
    value = fmaxf(value, __shfl_xor_sync(kAllLanes, value, offset));
  }
  return value;
  //~end
}

__global__ void sum_rows(const float* x, float* sums, int rows, int cols) {
  //~ // Still TODO(1): sums[row] is the sum of the row, for rows of any length (about 7 lines).
  //~begin 1
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;  // the whole warp goes: no shuffle waits for it
  float sum = 0.0f;
  for (int col = lane; col < cols; col += 32) sum += x[static_cast<size_t>(row) * cols + col];
  sum = sum_to_lane_0(sum);
  if (lane == 0) sums[row] = sum;
  //~end
}

__global__ void subtract_row_max(const float* x, float* y, int rows, int cols) {
  //~ // Still TODO(2): y is x less the greatest value of its row; all values may be negative (about 8
  //~ // lines).
  //~begin 2
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  const size_t begin = static_cast<size_t>(row) * cols;
  float greatest = -INFINITY;  // of a lane without an element: never the greatest
  for (int col = lane; col < cols; col += 32) greatest = fmaxf(greatest, x[begin + col]);
  greatest = warp_max(greatest);
  for (int col = lane; col < cols; col += 32) y[begin + col] = x[begin + col] - greatest;
  //~end
}

void launch_sum_rows(const float* d_x, float* d_sums, int rows, int cols) {
  //~ // Still TODO(1): A warp for every row; no launch for no rows (about 2 lines).
  //~begin 1
  const int grid = (rows + kBlock / 32 - 1) / (kBlock / 32);
  if (grid > 0) sum_rows<<<grid, kBlock>>>(d_x, d_sums, rows, cols);
  //~end
}

void launch_subtract_row_max(const float* d_x, float* d_y, int rows, int cols) {
  //~ // Still TODO(2): The same (about 2 lines).
  //~begin 2
  const int grid = (rows + kBlock / 32 - 1) / (kBlock / 32);
  if (grid > 0) subtract_row_max<<<grid, kBlock>>>(d_x, d_y, rows, cols);
  //~end
}
