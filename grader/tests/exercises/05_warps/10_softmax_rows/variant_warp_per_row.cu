// Another right answer: a warp per row, which reads it twice: greatest value and sum at once, then
// the result.
#include "10_softmax_rows.h"

__global__ void softmax_by_warp(const float* x, float* y, int rows, int cols) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  x += static_cast<size_t>(row) * cols;
  y += static_cast<size_t>(row) * cols;
  float greatest = -INFINITY, sum = 0.0f;
  for (int col = lane; col < cols; col += 32) {
    const float value = x[col];
    if (value > greatest) {
      sum = sum * expf(greatest - value) + 1.0f;
      greatest = value;
    } else if (value > -INFINITY) {
      sum += expf(value - greatest);
    }
  }
  float of_row = greatest;
  for (int offset = 16; offset > 0; offset /= 2) {
    of_row = fmaxf(of_row, __shfl_xor_sync(0xffffffffu, of_row, offset));
  }
  sum = greatest > -INFINITY ? sum * expf(greatest - of_row) : 0.0f;
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  }
  for (int col = lane; col < cols; col += 32) y[col] = expf(x[col] - of_row) / sum;
}

void launch_softmax_rows(const float* d_x, float* d_y, int rows, int cols) {
  const int rows_per_block = cols > 4096 ? 1 : 4;  // wide rows: enough blocks for the card
  const int grid = (rows + rows_per_block - 1) / rows_per_block;
  if (grid > 0) softmax_by_warp<<<grid, 32 * rows_per_block>>>(d_x, d_y, rows, cols);
}
