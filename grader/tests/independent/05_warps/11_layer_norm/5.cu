// Design: a warp per row, up to 32 floats of a lane kept in registers
#include <cfloat>
#include <cmath>

#include "11_layer_norm.h"
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
    layer_norm_again(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols) {
  const int row = blockIdx.x * kWarps + threadIdx.x / 32, first = threadIdx.x % 32;
  constexpr int kStride = 32;
  if (row >= rows) return;  // whole warps
  x += static_cast<size_t>(row) * cols;
  y += static_cast<size_t>(row) * cols;
  float sum = 0.0f, squares = 0.0f;
  for (int i = first; i < cols; i += kStride) sum += x[i];
  const float mean = over_row<false>(sum) / cols;
  for (int i = first; i < cols; i += kStride) squares += (x[i] - mean) * (x[i] - mean);
  const float scale = rsqrtf(over_row<false>(squares) / cols + kEpsilon);
  for (int i = first; i < cols; i += kStride) y[i] = (x[i] - mean) * scale * gamma[i] + beta[i];
}

// Rows of up to kKept elements per thread: kept in registers.
template <int kKept>
__global__ void __launch_bounds__(kThreads)
    layer_norm_kept(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols) {
  const int row = blockIdx.x * kWarps + threadIdx.x / 32, first = threadIdx.x % 32;
  constexpr int kStride = 32;
  if (row >= rows) return;  // whole warps
  x += static_cast<size_t>(row) * cols;
  y += static_cast<size_t>(row) * cols;
  float v[kKept], sum = 0.0f, squares = 0.0f;
#pragma unroll
  for (int j = 0; j < kKept; ++j) {
    const int i = first + j * kStride;
    v[j] = i < cols ? x[i] : 0.0f;
  }
#pragma unroll
  for (int j = 0; j < kKept; ++j) sum += v[j];
  const float mean = over_row<false>(sum) / cols;
#pragma unroll
  for (int j = 0; j < kKept; ++j) {
    if (first + j * kStride < cols) squares += (v[j] - mean) * (v[j] - mean);
  }
  const float scale = rsqrtf(over_row<false>(squares) / cols + kEpsilon);
#pragma unroll
  for (int j = 0; j < kKept; ++j) {
    const int i = first + j * kStride;
    if (i < cols) y[i] = (v[j] - mean) * scale * gamma[i] + beta[i];
  }
}

void launch_layer_norm(const float* d_x, const float* d_gamma, const float* d_beta, float* d_y, int rows, int cols) {
  if (rows == 0) return;
  if (cols <= 128) {
    layer_norm_kept<4><<<(rows + kWarps - 1) / kWarps, kThreads>>>(d_x, d_gamma, d_beta, d_y, rows, cols);
    return;
  }
  if (cols <= 256) {
    layer_norm_kept<8><<<(rows + kWarps - 1) / kWarps, kThreads>>>(d_x, d_gamma, d_beta, d_y, rows, cols);
    return;
  }
  if (cols <= 512) {
    layer_norm_kept<16><<<(rows + kWarps - 1) / kWarps, kThreads>>>(d_x, d_gamma, d_beta, d_y, rows, cols);
    return;
  }
  if (cols <= 1024) {
    layer_norm_kept<32><<<(rows + kWarps - 1) / kWarps, kThreads>>>(d_x, d_gamma, d_beta, d_y, rows, cols);
    return;
  }
  layer_norm_again<<<(rows + kWarps - 1) / kWarps, kThreads>>>(d_x, d_gamma, d_beta, d_y, rows, cols);
}
