// Design: a warp per row, read three times
#include <cfloat>
#include <cmath>

#include "10_softmax_rows.h"
#include "support.h"

constexpr int kThreads = 256, kWarps = kThreads / 32;

// Over the lanes of the warp, in every lane.
template <bool kGreatest>
__device__ float over_row(float v) {
  for (int step = 16; step > 0; step /= 2) {
    const float other = __shfl_xor_sync(0xFFFFFFFFu, v, step);
    v = kGreatest ? fmaxf(v, other) : v + other;
  }
  return v;
}

// Any row: it is read three times.
__global__ void __launch_bounds__(kThreads)
    softmax_rows_again(const float* x, float* y, int rows, int cols) {
  const int row = blockIdx.x * kWarps + threadIdx.x / 32, first = threadIdx.x % 32;
  constexpr int kStride = 32;
  if (row >= rows) return;  // whole warps
  x += static_cast<size_t>(row) * cols;
  y += static_cast<size_t>(row) * cols;
  float greatest = -FLT_MAX, sum = 0.0f;
  for (int i = first; i < cols; i += kStride) greatest = fmaxf(greatest, x[i]);
  greatest = over_row<true>(greatest);
  for (int i = first; i < cols; i += kStride) sum += expf(x[i] - greatest);
  const float scale = 1.0f / over_row<false>(sum);
  for (int i = first; i < cols; i += kStride) y[i] = expf(x[i] - greatest) * scale;
}

void launch_softmax_rows(const float* d_x, float* d_y, int rows, int cols) {
  if (rows == 0) return;
  softmax_rows_again<<<(rows + kWarps - 1) / kWarps, kThreads>>>(d_x, d_y, rows, cols);
}
