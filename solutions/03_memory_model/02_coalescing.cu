// 03/02 Coalescing: the same multiplications, walked by column and walked by row.
//   gain     cols floats in device memory, one factor per column
//   in, out  rows x cols floats in device memory, row-major; 0 <= rows, cols <= 2^18
//   out[r][c] = gain[c] * in[r][c]. Each thread has 8 elements.
//   The starter is right, and slow: its warps touch 32 rows with every instruction.
//   TODOs    2
#include "02_coalescing.h"

constexpr int kBlock = 256;    // threads
constexpr int kPerThread = 8;  // elements

__global__ void scale_columns(const float* gain, const float* in, float* out, int rows, int cols) {
  //~ // TODO(1): Here a thread has a row of its own and 8 columns. Give it a column of its own and 8
  //~ // rows; load all 8 elements before you store the first (about 12 lines).
  //~ const int row = blockIdx.y * kBlock + threadIdx.x;
  //~ for (int k = 0; k < kPerThread; ++k) {
  //~   const int col = blockIdx.x * kPerThread + k;
  //~   if (row < rows && col < cols) {
  //~     const size_t i = static_cast<size_t>(row) * cols + col;
  //~     out[i] = gain[col] * in[i];
  //~   }
  //~ }
  //~begin 1
  const int col = blockIdx.x * kBlock + threadIdx.x;  // a warp: 32 neighbours in one row
  const int top = blockIdx.y * kPerThread;
  if (col >= cols) return;
  const float factor = gain[col];  // once for all rows
  const size_t first = static_cast<size_t>(top) * cols + col;
  float x[kPerThread];  // in registers
  // Loads that do not wait for one another are under way together.
#pragma unroll
  for (int k = 0; k < kPerThread; ++k) {
    if (top + k < rows) x[k] = in[first + static_cast<size_t>(k) * cols];
  }
#pragma unroll
  for (int k = 0; k < kPerThread; ++k) {
    if (top + k < rows) out[first + static_cast<size_t>(k) * cols] = factor * x[k];
  }
  //~end
}

void launch_scale_columns(const float* d_gain, const float* d_in, float* d_out, int rows,
                          int cols) {
  const auto blocks = [](int n, int per_block) { return (n + per_block - 1) / per_block; };
  //~ // TODO(2): blockIdx.x counts groups of 8 columns here, blockIdx.y groups of 256 rows. Make the
  //~ // grid fit what you have written above (1 line).
  //~ const dim3 grid(blocks(cols, kPerThread), blocks(rows, kBlock));
  //~begin 2
  const dim3 grid(blocks(cols, kBlock), blocks(rows, kPerThread));
  //~end
  if (grid.x > 0 && grid.y > 0) {
    scale_columns<<<grid, kBlock>>>(d_gain, d_in, d_out, rows, cols);
  }
}
