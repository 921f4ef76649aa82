// Design: a block of 256 per row, read three times
#include <cfloat>
#include <cmath>

#include "11_layer_norm.h"
#include "support.h"

constexpr int kThreads = 256;

template <bool kGreatest>
__device__ float over_warp(float v) {
  for (int step = 16; step > 0; step /= 2) {
    const float other = __shfl_xor_sync(0xFFFFFFFFu, v, step);
    v = kGreatest ? fmaxf(v, other) : v + other;
  }
  return v;
}

// Over all threads of the block, in every thread. May be called again at once.
template <bool kGreatest>
__device__ float over_row(float v) {
  __shared__ float of_warp[kThreads / 32];
  v = over_warp<kGreatest>(v);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = v;
  __syncthreads();
  v = of_warp[0];
#pragma unroll
  for (int w = 1; w < kThreads / 32; ++w) v = kGreatest ? fmaxf(v, of_warp[w]) : v + of_warp[w];
  __syncthreads();
  return v;
}

// Any row: it is read three times.
__global__ void __launch_bounds__(kThreads)
    layer_norm_again(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols) {
  const int row = blockIdx.x, first = threadIdx.x;
  constexpr int kStride = kThreads;
  if (row >= rows) return;  // the whole block
  x += static_cast<size_t>(row) * cols;
  y += static_cast<size_t>(row) * cols;
  float sum = 0.0f, squares = 0.0f;
  for (int i = first; i < cols; i += kStride) sum += x[i];
  const float mean = over_row<false>(sum) / cols;
  for (int i = first; i < cols; i += kStride) squares += (x[i] - mean) * (x[i] - mean);
  const float scale = rsqrtf(over_row<false>(squares) / cols + kEpsilon);
  for (int i = first; i < cols; i += kStride) y[i] = (x[i] - mean) * scale * gamma[i] + beta[i];
}

void launch_layer_norm(const float* d_x, const float* d_gamma, const float* d_beta, float* d_y, int rows, int cols) {
  if (rows == 0) return;
  layer_norm_again<<<rows, kThreads>>>(d_x, d_gamma, d_beta, d_y, rows, cols);
}
