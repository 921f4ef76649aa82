// 05/11 Layer norm: mean and variance of a row from registers, then one pass over them.
//   x, y         rows x cols floats in device memory, row-major, aligned to 16 bytes; any cols >= 1
//   gamma, beta  cols floats, aligned to 16 bytes
//   Rows of up to 8192 columns, a multiple of four: block r has row r in its registers, x is read
//   once. Other rows are read twice: once for mean and variance together, once for the result.
//   TODOs        3
#include "11_layer_norm.h"
#include "support.h"

// The sum of the values of all threads of the block, in every thread. May be called again at once.
template <int kThreads>
__device__ float block_sum(float value) {
  //~ // TODO(1): What the line above says, both of its sentences (about 8 lines).
  //~ return value;
  //~begin 1
  __shared__ float of_warp[kThreads / kWarp];  // [warp]
  const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  value = warp_sum(value);
  if (lane == 0) of_warp[warp] = value;
  __syncthreads();  // every warp reads the sums of all
  value = warp_sum(lane < kThreads / kWarp ? of_warp[lane] : 0.0f);
  __syncthreads();  // the next call writes of_warp: nobody may still be reading
  return value;
  //~end
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
  //~ // TODO(2): Row blockIdx.x, `fours` float4 long, is loaded once and normalised. Its digits survive
  //~ // also where its values are far from 0 and close to each other (about 26 lines).
  //~begin 2
  const size_t begin = static_cast<size_t>(blockIdx.x) * fours;
  float4 v[kLoads];  // [load]: neighbouring threads hold neighbouring float4
#pragma unroll
  for (int k = 0; k < kLoads; ++k) {
    const int i = k * kThreads + threadIdx.x;
    v[k] = i < fours ? x[begin + i] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  }
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < kLoads; ++k) sum += (v[k].x + v[k].y) + (v[k].z + v[k].w);
  const float mean = block_sum<kThreads>(sum) / (4 * fours);
  float squares = 0.0f;
#pragma unroll
  for (int k = 0; k < kLoads; ++k) {
    const float a = v[k].x - mean, b = v[k].y - mean, c = v[k].z - mean, d = v[k].w - mean;
    if (k * kThreads + threadIdx.x < fours) squares += (a * a + b * b) + (c * c + d * d);
  }
  const float variance = block_sum<kThreads>(squares) / (4 * fours);
  const float scale = rsqrtf(variance + kEpsilon);
#pragma unroll
  for (int k = 0; k < kLoads; ++k) {
    const int i = k * kThreads + threadIdx.x;
    if (i < fours) y[begin + i] = normalise(v[k], mean, scale, gamma[i], beta[i]);
  }
  //~end
}

// Any cols: rows that are not made of whole float4, or too long for registers, are read twice.
template <int kThreads>
__global__ void __launch_bounds__(kThreads)
    layer_norm_in_two_passes(const float* x, const float* gamma, const float* beta, float* y,
                             int cols) {
  //~ // TODO(3): Mean and variance from one reading of the row, the result from a second; and the
  //~ // digits survive here as well (about 14 lines).
  //~begin 3
  const size_t begin = static_cast<size_t>(blockIdx.x) * cols;
  // Around 0, a large mean would swallow the digits of both sums.
  const float origin = x[begin];
  float sum = 0.0f, squares = 0.0f;
  for (int col = threadIdx.x; col < cols; col += kThreads) {
    const float distance = x[begin + col] - origin;
    sum += distance;
    squares += distance * distance;
  }
  const float offset = block_sum<kThreads>(sum) / cols;  // of the mean from the origin
  const float mean = origin + offset;
  const float variance = fmaxf(block_sum<kThreads>(squares) / cols - offset * offset, 0.0f);
  const float scale = rsqrtf(variance + kEpsilon);
  for (int col = threadIdx.x; col < cols; col += kThreads) {
    y[begin + col] = (x[begin + col] - mean) * scale * gamma[col] + beta[col];
  }
  //~end
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
    return;
  }
  //~ // Still TODO(2): As many threads and loads as a row of this width wants (about 7 lines).
  //~ launch_in_registers<1024, 2>(d_x, d_gamma, d_beta, d_y, rows, cols);
  //~begin 2
  if (cols <= 1024) {
    launch_in_registers<128, 2>(d_x, d_gamma, d_beta, d_y, rows, cols);
  } else if (cols <= 4096) {
    launch_in_registers<512, 2>(d_x, d_gamma, d_beta, d_y, rows, cols);
  } else {
    launch_in_registers<1024, 2>(d_x, d_gamma, d_beta, d_y, rows, cols);
  }
  //~end
}
