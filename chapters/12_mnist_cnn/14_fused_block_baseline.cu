// 12/14 Fused block: what it is compared with, a kernel per layer and a thread per element.
#include "14_fused_block.h"

namespace {

constexpr int kBlock = 256;  // threads

__global__ void conv_layer(const float* x, const float* weights, float* y, int count, int c, int h,
                           int w, int k) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= count) return;
  const int col = i % w, row = i / w % h, filter = i / (w * h) % k, image = i / (w * h * k);
  float sum = 0.0f;
  for (int channel = 0; channel < c; ++channel) {
    const float* plane = x + static_cast<size_t>(image * c + channel) * h * w;
    const float* of_channel = weights + (filter * c + channel) * 9;
    for (int r = 0; r < 3; ++r) {
      const int from_row = row + r - 1;
      if (from_row < 0 || from_row >= h) continue;
      for (int s = 0; s < 3; ++s) {
        const int from_col = col + s - 1;
        if (from_col < 0 || from_col >= w) continue;
        sum += of_channel[r * 3 + s] * plane[from_row * w + from_col];
      }
    }
  }
  y[i] = sum;
}

__global__ void batch_norm_layer(const float* x, float* y, BatchNorm norm, int count, int k,
                                 int hw) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= count) return;
  const int channel = i / hw % k;
  y[i] = (x[i] - norm.d_mean[channel]) * norm.d_inv_std[channel] * norm.d_gamma[channel] +
         norm.d_beta[channel];
}

__global__ void relu_layer(const float* x, float* y, int count) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i < count) y[i] = fmaxf(x[i], 0.0f);
}

__global__ void pool_layer(const float* x, float* y, int count, int h, int w) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= count) return;
  const int col = i % (w / 2), row = i / (w / 2) % (h / 2), plane = i / (w / 2) / (h / 2);
  const float* from = x + (static_cast<size_t>(plane) * h + 2 * row) * w + 2 * col;
  y[i] = fmaxf(fmaxf(from[0], from[1]), fmaxf(from[w], from[w + 1]));
}

int blocks_for(int count) { return (count + kBlock - 1) / kBlock; }

}  // namespace

void launch_block_by_four(const float* d_x, const float* d_w, BatchNorm norm, float* d_y,
                          float* d_conv, float* d_norm, int n, int c, int h, int w, int k) {
  const int count = n * k * h * w, pooled = n * k * (h / 2) * (w / 2);
  if (pooled == 0) return;
  conv_layer<<<blocks_for(count), kBlock>>>(d_x, d_w, d_conv, count, c, h, w, k);
  batch_norm_layer<<<blocks_for(count), kBlock>>>(d_conv, d_norm, norm, count, k, h * w);
  relu_layer<<<blocks_for(count), kBlock>>>(d_norm, d_conv, count);
  pool_layer<<<blocks_for(pooled), kBlock>>>(d_conv, d_y, pooled, h, w);
}
