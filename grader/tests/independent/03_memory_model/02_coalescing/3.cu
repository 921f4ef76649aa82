// Design: a thread has one element, 32x8 threads
#include "02_coalescing.h"

constexpr int kBlock = 256;

__global__ void __launch_bounds__(kBlock)
    scale_columns(const float* gain, const float* in, float* out, int rows, int cols) {
  const int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
  if (row >= rows || col >= cols) return;
  const size_t i = static_cast<size_t>(row) * cols + col;
  out[i] = gain[col] * in[i];
}

void launch_scale_columns(const float* d_gain, const float* d_in, float* d_out, int rows,
                          int cols) {
  if (rows == 0 || cols == 0) return;
  const dim3 grid((cols + 31) / 32, (rows + 7) / 8);
  scale_columns<<<grid, dim3(32, 8)>>>(d_gain, d_in, d_out, rows, cols);
}
