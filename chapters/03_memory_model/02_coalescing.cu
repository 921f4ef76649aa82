// 03/02 Coalescing: the same multiplications, walked by column and walked by row.
//   gain     cols floats in device memory, one factor per column
//   in, out  rows x cols floats in device memory, row-major; 0 <= rows, cols <= 2^18
//   out[r][c] = gain[c] * in[r][c]. Elements per thread and block are yours to choose.
//   The starter is right, and slow: its warps touch 32 rows with every instruction.
//   TODOs    2
#include "02_coalescing.h"

constexpr int kBlock = 256;    // threads
constexpr int kPerThread = 8;  // elements

__global__ void scale_columns(const float* gain, const float* in, float* out, int rows, int cols) {
  // TODO(1): Right, and slow: with every instruction a warp touches 32 rows. It must touch
  // neighbours, and the loads of a thread must not wait for one another (about 12 lines).
  const int row = blockIdx.y * kBlock + threadIdx.x;
  for (int k = 0; k < kPerThread; ++k) {
    const int col = blockIdx.x * kPerThread + k;
    if (row < rows && col < cols) {
      const size_t i = static_cast<size_t>(row) * cols + col;
      out[i] = gain[col] * in[i];
    }
  }
}

void launch_scale_columns(const float* d_gain, const float* d_in, float* d_out, int rows,
                          int cols) {
  // TODO(2): This grid fits the kernel above as it stands. The launch must cover every element
  // with your kernel, launch nothing for no elements, and stay a legal grid for 2^18 rows
  // (about 5 lines).
  const dim3 grid((cols + kPerThread - 1) / kPerThread, (rows + kBlock - 1) / kBlock);
  if (grid.x > 0 && grid.y > 0) {
    scale_columns<<<grid, kBlock>>>(d_gain, d_in, d_out, rows, cols);
  }
}
