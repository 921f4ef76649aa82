// Design: a thread has 8 rows of one column, all loads before the stores
#include "02_coalescing.h"

constexpr int kBlock = 256;

constexpr int kPerThread = 8;

__global__ void __launch_bounds__(kBlock)
    scale_columns(const float* gain, const float* in, float* out, int rows, int cols) {
  const int col = blockIdx.x * kBlock + threadIdx.x, row = blockIdx.y * kPerThread;
  if (col >= cols) return;
  const float factor = gain[col];
  const size_t first = static_cast<size_t>(row) * cols + col;
  float v[kPerThread];
#pragma unroll
  for (int r = 0; r < kPerThread; ++r) {
    v[r] = row + r < rows ? in[first + static_cast<size_t>(r) * cols] : 0.0f;
  }
#pragma unroll
  for (int r = 0; r < kPerThread; ++r) {
    if (row + r < rows) out[first + static_cast<size_t>(r) * cols] = factor * v[r];
  }
}

void launch_scale_columns(const float* d_gain, const float* d_in, float* d_out, int rows,
                          int cols) {
  if (rows == 0 || cols == 0) return;
  const dim3 grid((cols + kBlock - 1) / kBlock, (rows + kPerThread - 1) / kPerThread);
  scale_columns<<<grid, kBlock>>>(d_gain, d_in, d_out, rows, cols);
}
