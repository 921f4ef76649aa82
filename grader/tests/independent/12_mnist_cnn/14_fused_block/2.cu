// Design: one filter per thread, the window loaded anew by every block of filters
#include "06_conv_forward_support.h"
#include "14_fused_block.h"

namespace {

constexpr int kThreads = 128;
constexpr int kOwn = 1;        // filters of a thread, and of its block
constexpr int kChannels = 16;  // of x, whose weights lie in shared memory at a time

__global__ void __launch_bounds__(kThreads)
    fused_block(const float* __restrict__ x, const float* __restrict__ weights, BatchNorm norm,
                float* __restrict__ y, int n, int c, int h, int w, int k) {
  __shared__ __align__(16) float tile[kChannels * 9][kOwn];  // batch norm folded in
  const int first_filter = blockIdx.y * kOwn;
  const int rows = h / 2, cols = w / 2;  // windows in a plane
  const int i = blockIdx.x * kThreads + threadIdx.x;
  const bool has_window = i < n * rows * cols;  // no return: barriers follow
  const int image = i / (rows * cols), row = i / cols % rows, col = i % cols;
  float sums[kOwn][4] = {};  // [filter][output of the window]
  for (int first = 0; first < c; first += kChannels) {
    const int count = min(kChannels, c - first), tile_size = count * 9;
    __syncthreads();  // read against write: all threads have used the tile before
    for (int e = threadIdx.x; e < tile_size * kOwn; e += kThreads) {
      const int filter = first_filter + e / tile_size, at = e % tile_size;
      float weight = 0.0f;
      if (filter < k) {
        weight = weights[(static_cast<size_t>(filter) * c + first) * 9 + at] *
                 norm.d_gamma[filter] * norm.d_inv_std[filter];
      }
      tile[at][e / tile_size] = weight;
    }
    __syncthreads();  // write against read: the tile is complete
    if (!has_window) continue;
    for (int channel = 0; channel < count; ++channel) {
      float window[4][4];
      load_window(x + (static_cast<size_t>(image) * c + first + channel) * h * w, 2 * row, 2 * col,
                  h, w, window);
#pragma unroll
      for (int r = 0; r < 3; ++r) {
#pragma unroll
        for (int s = 0; s < 3; ++s) {
#pragma unroll
          for (int a = 0; a < kOwn; ++a) {
            const float weight = tile[channel * 9 + 3 * r + s][a];
            sums[a][0] += weight * window[r][s];
            sums[a][1] += weight * window[r][s + 1];
            sums[a][2] += weight * window[r + 1][s];
            sums[a][3] += weight * window[r + 1][s + 1];
          }
        }
      }
    }
  }
  if (!has_window) return;
#pragma unroll
  for (int a = 0; a < kOwn; ++a) {
    const int filter = first_filter + a;
    if (filter >= k) break;
    const float offset = norm.d_beta[filter] -
                         norm.d_mean[filter] * norm.d_gamma[filter] * norm.d_inv_std[filter];
    const float greatest =
        fmaxf(fmaxf(sums[a][0], sums[a][1]), fmaxf(sums[a][2], sums[a][3])) + offset;
    y[((static_cast<size_t>(image) * k + filter) * rows + row) * cols + col] = fmaxf(greatest, 0.0f);
  }
}

}  // namespace

void launch_fused_block(const float* d_x, const float* d_w, BatchNorm norm, float* d_y, int n,
                        int c, int h, int w, int k) {
  const int windows = n * (h / 2) * (w / 2);
  const dim3 grid((windows + kThreads - 1) / kThreads, (k + kOwn - 1) / kOwn);
  if (windows > 0) fused_block<<<grid, kThreads>>>(d_x, d_w, norm, d_y, n, c, h, w, k);
}
