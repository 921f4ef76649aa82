// batch norm applied to the four sums in place of being folded into weights, 16 filters a block of 64 threads, float4 weights from shared memory
#include "06_conv_forward_support.h"
#include "14_fused_block.h"

namespace {

constexpr int kThreads = 64;
constexpr int kOwn = 16;       // filters of a thread, and of its block
constexpr int kChannels = 8;  // of x, whose weights lie in shared memory at a time

__global__ void __launch_bounds__(kThreads)
    fused_block(const float* x, const float* weights, BatchNorm norm, float* y, int n, int c, int h,
                int w, int k) {
  __shared__ __align__(16) float tile[kChannels * 9][kOwn];  // [channel, weight][filter], batch norm folded in
  const int first_filter = blockIdx.y * kOwn;
  const int rows = h / 2, cols = w / 2;  // windows in a plane
  const int i = blockIdx.x * kThreads + threadIdx.x;
  const bool has_window = i < n * rows * cols;  // no return: barriers follow
  const int image = i / (rows * cols), row = i / cols % rows, col = i % cols;
  float sums[kOwn][4] = {};  // [filter][output of the window]
  for (int first = 0; first < c; first += kChannels) {
    const int tile_size = min(kChannels, c - first) * 9;  // weights per filter
    __syncthreads();  // read against write: all threads have used the tile before
    for (int e = threadIdx.x; e < tile_size * kOwn; e += kThreads) {
      const int own = e / tile_size, weight = e % tile_size, filter = first_filter + own;
      float value = 0.0f;
      if (filter < k) {
        value = weights[(static_cast<size_t>(filter) * c + first) * 9 + weight];
      }
      tile[weight][own] = value;
    }
    __syncthreads();  // write against read: the tile is complete
    if (!has_window) continue;
    for (int channel = 0; channel < tile_size / 9; ++channel) {
      float window[4][4];
      load_window(x + (static_cast<size_t>(image) * c + first + channel) * h * w, 2 * row, 2 * col, h, w, window);
#pragma unroll
      for (int weight = 0; weight < 9; ++weight) {
        const int r = weight / 3, s = weight % 3;
#pragma unroll
        for (int own = 0; own < kOwn; own += 4) {
          const float4 v = *reinterpret_cast<const float4*>(&tile[channel * 9 + weight][own]);
#pragma unroll
          for (int o = 0; o < 4; ++o) {
            const float pixel = window[r + o / 2][s + o % 2];
            sums[own][o] = fmaf(v.x, pixel, sums[own][o]);
            sums[own + 1][o] = fmaf(v.y, pixel, sums[own + 1][o]);
            sums[own + 2][o] = fmaf(v.z, pixel, sums[own + 2][o]);
            sums[own + 3][o] = fmaf(v.w, pixel, sums[own + 3][o]);
          }
        }
      }
    }
  }
  if (!has_window) return;
#pragma unroll
  for (int own = 0; own < kOwn; ++own) {
    const int filter = first_filter + own;
    if (filter >= k) break;
    const float factor = norm.d_gamma[filter] * norm.d_inv_std[filter];
    const float shift = norm.d_beta[filter] - norm.d_mean[filter] * factor;
    const float most = fmaxf(fmaxf(sums[own][0] * factor, sums[own][1] * factor), fmaxf(sums[own][2] * factor, sums[own][3] * factor));
    y[((static_cast<size_t>(image) * k + filter) * rows + row) * cols + col] = fmaxf(most + shift, 0.0f);
  }
}

}  // namespace

void launch_fused_block(const float* d_x, const float* d_w, BatchNorm norm, float* d_y, int n,
                        int c, int h, int w, int k) {
  const int windows = n * (h / 2) * (w / 2);
  const dim3 grid((windows + kThreads - 1) / kThreads, (k + kOwn - 1) / kOwn);
  if (windows > 0) fused_block<<<grid, kThreads>>>(d_x, d_w, norm, d_y, n, c, h, w, k);
}
