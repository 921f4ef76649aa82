// 05/09 Layer norm: mean and variance of a row from registers, then one pass over them.
//   x, y         rows x cols floats in device memory, row-major, aligned to 16 bytes; any cols >= 1
//   gamma, beta  cols floats, aligned to 16 bytes
//   Block r has row r in its registers: x is read once, and the variance is taken around the mean.
//   TODOs        3
#include "09_layer_norm.h"
#include "support.h"

// The sum of the values of all threads of the block, in every thread. May be called again at once.
template <int kThreads>
__device__ float block_sum(float value) {
  __shared__ float of_warp[kThreads / kWarp];  // [warp]
  const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  // TODO(1): As in 03, but every thread needs the sum (let every warp add up the sums of the
  // warps), and the next call must not overwrite what is being read (about 5 lines).
  if (lane == 0) {
    of_warp[warp] = value;
    value = of_warp[warp];
  }
  return value;
}

__device__ float4 normalise(float4 v, float mean, float scale, float4 gamma, float4 beta) {
  return make_float4(
      (v.x - mean) * scale * gamma.x + beta.x, (v.y - mean) * scale * gamma.y + beta.y,
      (v.z - mean) * scale * gamma.z + beta.z, (v.w - mean) * scale * gamma.w + beta.w);
}

// Rows of up to 4 * kThreads * kLoads floats, a multiple of four.
template <int kThreads, int kLoads>
__global__ void __launch_bounds__(kThreads)
    layer_norm_in_registers(const float4* x, const float4* gamma, const float4* beta, float4* y,
                            int fours) {
  const size_t begin = static_cast<size_t>(blockIdx.x) * fours;
  float4 v[kLoads];  // [load]: neighbouring threads hold neighbouring float4
#pragma unroll
  for (int k = 0; k < kLoads; ++k) {
    const int i = k * kThreads + threadIdx.x;
    v[k] = i < fours ? x[begin + i] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  }
  float mean = 0.0f, variance = 0.0f;
  // TODO(2): The mean, then the mean of the squared distances from it, both with block_sum.
  // Places past the end of the row hold 0 and have no distance (about 14 lines).
  const float scale = rsqrtf(variance + kEpsilon);
#pragma unroll
  for (int k = 0; k < kLoads; ++k) {
    const int i = k * kThreads + threadIdx.x;
    if (i < fours) y[begin + i] = normalise(v[k], mean, scale, gamma[i], beta[i]);
  }
}

// Any cols: rows that are not made of whole float4, or too long for registers, are read twice. The
// sums are taken around the first value of the row: around 0, a large mean would swallow their
// digits.
template <int kThreads>
__global__ void __launch_bounds__(kThreads)
    layer_norm_in_two_passes(const float* x, const float* gamma, const float* beta, float* y,
                             int cols) {
  const size_t begin = static_cast<size_t>(blockIdx.x) * cols;
  const float origin = x[begin];
  float mean = 0.0f, variance = 0.0f;
  // TODO(3): Mean and variance from the sums of (x - origin) and of its square (about 8 lines).
  mean = origin;
  const float scale = rsqrtf(variance + kEpsilon);
  for (int col = threadIdx.x; col < cols; col += kThreads) {
    y[begin + col] = (x[begin + col] - mean) * scale * gamma[col] + beta[col];
  }
}

template <int kThreads, int kLoads>
void launch_in_registers(const float* d_x, const float* d_gamma, const float* d_beta, float* d_y,
                         int rows, int cols) {
  layer_norm_in_registers<kThreads, kLoads><<<rows, kThreads>>>(
      reinterpret_cast<const float4*>(d_x), reinterpret_cast<const float4*>(d_gamma),
      reinterpret_cast<const float4*>(d_beta), reinterpret_cast<float4*>(d_y), cols / 4);
}

void launch_layer_norm(const float* d_x, const float* d_gamma, const float* d_beta, float* d_y,
                       int rows, int cols) {
  if (rows == 0) return;
  if (cols % 4 != 0 || cols > 8192) {
    layer_norm_in_two_passes<256><<<rows, 256>>>(d_x, d_gamma, d_beta, d_y, cols);
  } else if (cols <= 1024) {
    launch_in_registers<128, 2>(d_x, d_gamma, d_beta, d_y, rows, cols);
  } else if (cols <= 4096) {
    launch_in_registers<512, 2>(d_x, d_gamma, d_beta, d_y, rows, cols);
  } else {
    launch_in_registers<1024, 2>(d_x, d_gamma, d_beta, d_y, rows, cols);
  }
}
