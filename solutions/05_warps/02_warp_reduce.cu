// 05/02 Warp reduce: the lanes of a warp combine their values through registers.
//   x          rows x cols floats in device memory, row-major; any rows >= 0, cols >= 1
//   One warp per row: lane l reads elements l, l + 32, ... of it and holds one partial result.
//   No shared memory, no barrier, no atomics.
//   TODOs      2
#include "02_warp_reduce.h"

inline constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kBlock = 256;  // threads: 8 warps, 8 rows

// The sum of the values of all 32 lanes, in lane 0 at least.
__device__ float warp_sum(float value) {
  //~ // TODO(1): Halve the distance five times: a lane adds what the lane `offset` above it holds
  //~ // (__shfl_down_sync; about 3 lines).
  //~begin 1
  // 16, 8, 4, 2, 1: after each step the first `offset` lanes hold the whole sum between them.
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_down_sync(kAllLanes, value, offset);
  }
  //~end
  return value;
}

// The greatest of the values of all 32 lanes, in every lane.
__device__ float warp_max(float value) {
  //~ // TODO(2): The same with partners that exchange (__shfl_xor_sync; about 3 lines).
  //~begin 2
  // Partners take the same of the same two values, so afterwards both know it.
  for (int offset = 16; offset > 0; offset /= 2) {
    value = fmaxf(value, __shfl_xor_sync(kAllLanes, value, offset));
  }
  //~end
  return value;
}

__global__ void sum_rows(const float* x, float* sums, int rows, int cols) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;  // the whole warp goes: no shuffle waits for it
  float sum = 0.0f;
  for (int col = lane; col < cols; col += 32) sum += x[static_cast<size_t>(row) * cols + col];
  sum = warp_sum(sum);
  if (lane == 0) sums[row] = sum;
}

__global__ void subtract_row_max(const float* x, float* y, int rows, int cols) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  const size_t begin = static_cast<size_t>(row) * cols;
  float greatest = -INFINITY;  // of a lane without an element: never the greatest
  for (int col = lane; col < cols; col += 32) greatest = fmaxf(greatest, x[begin + col]);
  greatest = warp_max(greatest);
  for (int col = lane; col < cols; col += 32) y[begin + col] = x[begin + col] - greatest;
}

void launch_sum_rows(const float* d_x, float* d_sums, int rows, int cols) {
  const int grid = (rows + kBlock / 32 - 1) / (kBlock / 32);
  if (grid > 0) sum_rows<<<grid, kBlock>>>(d_x, d_sums, rows, cols);
}

void launch_subtract_row_max(const float* d_x, float* d_y, int rows, int cols) {
  const int grid = (rows + kBlock / 32 - 1) / (kBlock / 32);
  if (grid > 0) subtract_row_max<<<grid, kBlock>>>(d_x, d_y, rows, cols);
}
