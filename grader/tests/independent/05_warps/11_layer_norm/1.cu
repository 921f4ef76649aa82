// Two passes shifted by the first value of the row
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
  // TODO(1): What the line above says, both of its sentences (about 8 lines).
  __shared__ float w[kThreads / 32];
  value = warp_sum(value);
  if (threadIdx.x % 32 == 0) w[threadIdx.x / 32] = value;
  __syncthreads();
  float s = 0;
  for (int k = 0; k < kThreads / 32; ++k) s += w[k];
  __syncthreads();
  return s;
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
  x += (size_t)blockIdx.x * fours;
  y += (size_t)blockIdx.x * fours;
  float4 v[kLoads];
  float s = 0;
#pragma unroll
  for (int k = 0; k < kLoads; ++k) {
    const int i = threadIdx.x + k * kThreads;
    v[k] = i < fours ? x[i] : make_float4(0, 0, 0, 0);
    s += v[k].x + v[k].y + v[k].z + v[k].w;
  }
  const float mean = block_sum<kThreads>(s) / (4 * fours);
  float q = 0;
#pragma unroll
  for (int k = 0; k < kLoads; ++k)
    if (threadIdx.x + k * kThreads < fours) {
      const float a = v[k].x - mean, b = v[k].y - mean, c = v[k].z - mean, d = v[k].w - mean;
      q += a * a + b * b + c * c + d * d;
    }
  const float scale = rsqrtf(block_sum<kThreads>(q) / (4 * fours) + kEpsilon);
#pragma unroll
  for (int k = 0; k < kLoads; ++k) {
    const int i = threadIdx.x + k * kThreads;
    if (i < fours) y[i] = normalise(v[k], mean, scale, gamma[i], beta[i]);
  }
  // TODO(2): Row blockIdx.x, `fours` float4 long, is loaded once and normalised. Its digits survive
  // also where its values are far from 0 and close to each other (about 26 lines).
}

// Any cols: rows that are not made of whole float4, or too long for registers, are read twice.
template <int kThreads>
__global__ void __launch_bounds__(kThreads)
    layer_norm_in_two_passes(const float* x, const float* gamma, const float* beta, float* y,
                             int cols) {
  x += (size_t)blockIdx.x * cols;
  y += (size_t)blockIdx.x * cols;
  const float shift = x[0];
  float s = 0, q = 0;
  for (int c = threadIdx.x; c < cols; c += kThreads) { const float d = x[c] - shift; s += d; q += d * d; }
  s = block_sum<kThreads>(s) / cols;
  q = block_sum<kThreads>(q) / cols - s * s;
  const float mean = shift + s, scale = rsqrtf(fmaxf(q, 0.0f) + kEpsilon);
  for (int c = threadIdx.x; c < cols; c += kThreads) y[c] = (x[c] - mean) * scale * gamma[c] + beta[c];
  // TODO(3): Mean and variance from one reading of the row, the result from a second; and the
  // digits survive here as well (about 14 lines).
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
  // Still TODO(2): As many threads and loads as a row of this width wants (about 7 lines).
  launch_in_registers<1024, 2>(d_x, d_gamma, d_beta, d_y, rows, cols);
}
