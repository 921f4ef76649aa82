// blocks of 64 x 4 threads, rows of a thread four apart, row tiles in grid.x and column tiles in grid.y
#include "02_coalescing.h"

template <int kPerThread>
__global__ void __launch_bounds__(256) scale(const float* __restrict__ gain,
                                             const float* __restrict__ in, float* __restrict__ out,
                                             int rows, int cols) {
  const int col = blockIdx.y * 64 + threadIdx.x;
  const int first = blockIdx.x * (4 * kPerThread) + threadIdx.y;
  if (col >= cols) return;
  const float factor = __ldg(gain + col);
  const size_t step = static_cast<size_t>(4) * cols;
  size_t i = static_cast<size_t>(first) * cols + col;
  float v[kPerThread];
#pragma unroll
  for (int k = 0; k < kPerThread; ++k) v[k] = first + 4 * k < rows ? __ldcs(in + i + k * step) : 0.0f;
#pragma unroll
  for (int k = 0; k < kPerThread; ++k) {
    if (first + 4 * k < rows) __stcs(out + i + k * step, factor * v[k]);
  }
}

void launch_scale_columns(const float* d_gain, const float* d_in, float* d_out, int rows,
                          int cols) {
  if (rows == 0 || cols == 0) return;
  scale<8><<<dim3((rows + 31) / 32, (cols + 63) / 64), dim3(64, 4)>>>(d_gain, d_in, d_out, rows, cols);
}
