// Another right answer: offsets grow, every lane gets the sum, and the greatest is broadcast.
#include "02_warp_reduce.h"

__device__ float sum_of_lanes(float value) {
#pragma unroll
  for (int offset = 1; offset < 32; offset <<= 1) {
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  }
  return value;
}

__device__ float max_of_lanes(float value) {
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1) {
    value = fmaxf(value, __shfl_down_sync(0xffffffffu, value, offset));
  }
  return __shfl_sync(0xffffffffu, value, 0);
}

// A block is one warp, a grid-stride loop over rows.
__global__ void sum_rows_strided(const float* x, float* sums, int rows, int cols) {
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    float sum = 0.0f;
    for (int col = threadIdx.x; col < cols; col += 32) sum += x[row * cols + col];
    sum = sum_of_lanes(sum);
    if (threadIdx.x == 31) sums[row] = sum;
  }
}

__global__ void subtract_max_strided(const float* x, float* y, int rows, int cols) {
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    float greatest = x[row * cols];
    for (int col = threadIdx.x; col < cols; col += 32) {
      greatest = fmaxf(greatest, x[row * cols + col]);
    }
    greatest = max_of_lanes(greatest);
    for (int col = threadIdx.x; col < cols; col += 32) {
      y[row * cols + col] = x[row * cols + col] - greatest;
    }
  }
}

void launch_sum_rows(const float* d_x, float* d_sums, int rows, int cols) {
  if (rows > 0) sum_rows_strided<<<64, 32>>>(d_x, d_sums, rows, cols);
}

void launch_subtract_row_max(const float* d_x, float* d_y, int rows, int cols) {
  if (rows > 0) subtract_max_strided<<<64, 32>>>(d_x, d_y, rows, cols);
}
