// Design: a block of 256 per row, up to 32 floats of a thread kept in registers
#include <cfloat>
#include <cmath>

#include "10_softmax_rows.h"
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
    softmax_rows_again(const float* x, float* y, int rows, int cols) {
  const int row = blockIdx.x, first = threadIdx.x;
  constexpr int kStride = kThreads;
  if (row >= rows) return;  // the whole block
  x += static_cast<size_t>(row) * cols;
  y += static_cast<size_t>(row) * cols;
  float greatest = -FLT_MAX, sum = 0.0f;
  for (int i = first; i < cols; i += kStride) greatest = fmaxf(greatest, x[i]);
  greatest = over_row<true>(greatest);
  for (int i = first; i < cols; i += kStride) sum += expf(x[i] - greatest);
  const float scale = 1.0f / over_row<false>(sum);
  for (int i = first; i < cols; i += kStride) y[i] = expf(x[i] - greatest) * scale;
}

// Rows of up to kKept elements per thread: kept in registers.
template <int kKept>
__global__ void __launch_bounds__(kThreads)
    softmax_rows_kept(const float* x, float* y, int rows, int cols) {
  const int row = blockIdx.x, first = threadIdx.x;
  constexpr int kStride = kThreads;
  if (row >= rows) return;  // the whole block
  x += static_cast<size_t>(row) * cols;
  y += static_cast<size_t>(row) * cols;
  float v[kKept], greatest = -FLT_MAX, sum = 0.0f;
#pragma unroll
  for (int j = 0; j < kKept; ++j) {
    const int i = first + j * kStride;
    v[j] = i < cols ? x[i] : -INFINITY;
  }
#pragma unroll
  for (int j = 0; j < kKept; ++j) greatest = fmaxf(greatest, v[j]);
  greatest = over_row<true>(greatest);
#pragma unroll
  for (int j = 0; j < kKept; ++j) sum += v[j] = expf(v[j] - greatest);
  const float scale = 1.0f / over_row<false>(sum);
#pragma unroll
  for (int j = 0; j < kKept; ++j) {
    const int i = first + j * kStride;
    if (i < cols) y[i] = v[j] * scale;
  }
}

void launch_softmax_rows(const float* d_x, float* d_y, int rows, int cols) {
  if (rows == 0) return;
  if (cols <= 512) {
    softmax_rows_kept<2><<<rows, kThreads>>>(d_x, d_y, rows, cols);
    return;
  }
  if (cols <= 1024) {
    softmax_rows_kept<4><<<rows, kThreads>>>(d_x, d_y, rows, cols);
    return;
  }
  if (cols <= 2048) {
    softmax_rows_kept<8><<<rows, kThreads>>>(d_x, d_y, rows, cols);
    return;
  }
  if (cols <= 4096) {
    softmax_rows_kept<16><<<rows, kThreads>>>(d_x, d_y, rows, cols);
    return;
  }
  if (cols <= 8192) {
    softmax_rows_kept<32><<<rows, kThreads>>>(d_x, d_y, rows, cols);
    return;
  }
  softmax_rows_again<<<rows, kThreads>>>(d_x, d_y, rows, cols);
}
