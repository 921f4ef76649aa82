// Another right answer: a block per image and sixteen filters, channel after channel in shared
// memory with its border, a thread per window.
#include "14_fused_block.h"

namespace {

constexpr int kFilters = 16;  // of a block
constexpr int kThreads = 128;

__global__ void fused_planes(const float* x, const float* weights, BatchNorm norm, float* y, int c,
                             int h, int w, int k) {
  extern __shared__ float plane[];           // [h + 2][w + 2]
  __shared__ float of_channel[9][kFilters];  // [weight][filter]
  const int image = blockIdx.x, first = blockIdx.y * kFilters, width = w + 2;
  const int windows = (h / 2) * (w / 2);
  for (int begin = 0; begin < windows; begin += kThreads) {
    const int window = begin + threadIdx.x;
    const int row = window / (w / 2), col = window % (w / 2);
    float sums[kFilters][4] = {};
    for (int channel = 0; channel < c; ++channel) {
      __syncthreads();  // read against write: the last plane and its weights have been used
      for (int e = threadIdx.x; e < (h + 2) * width; e += kThreads) {
        const int from_row = e / width - 1, from_col = e % width - 1;
        const bool inside = from_row >= 0 && from_row < h && from_col >= 0 && from_col < w;
        const size_t pixel = (static_cast<size_t>(image) * c + channel) * h * w;
        plane[e] = inside ? x[pixel + from_row * w + from_col] : 0.0f;
      }
      for (int e = threadIdx.x; e < 9 * kFilters; e += kThreads) {
        const int filter = min(first + e / 9, k - 1);
        of_channel[e % 9][e / 9] = weights[(filter * c + channel) * 9 + e % 9];
      }
      __syncthreads();  // write against read: plane and weights are complete
      if (window >= windows) continue;
      float pixels[4][4];
      for (int i = 0; i < 16; ++i) {
        pixels[i / 4][i % 4] = plane[(2 * row + i / 4) * width + 2 * col + i % 4];
      }
#pragma unroll
      for (int j = 0; j < 9; ++j) {
        for (int filter = 0; filter < kFilters; ++filter) {
          for (int p = 0; p < 4; ++p) {
            sums[filter][p] += of_channel[j][filter] * pixels[j / 3 + p / 2][j % 3 + p % 2];
          }
        }
      }
    }
    for (int own = 0; own < kFilters && window < windows; ++own) {
      const int filter = first + own;
      if (filter >= k) break;
      const float scale = norm.d_gamma[filter] * norm.d_inv_std[filter];
      float greatest = 0.0f;
      for (int p = 0; p < 4; ++p) {
        const float sum = sums[own][p] - norm.d_mean[filter];
        greatest = fmaxf(greatest, sum * scale + norm.d_beta[filter]);
      }
      y[(static_cast<size_t>(image) * k + filter) * windows + window] = greatest;
    }
  }
}

}  // namespace

void launch_fused_block(const float* d_x, const float* d_w, BatchNorm norm, float* d_y, int n,
                        int c, int h, int w, int k) {
  if (n == 0) return;
  const dim3 grid(n, (k + kFilters - 1) / kFilters);
  const size_t shared = sizeof(float) * (h + 2) * (w + 2);
  fused_planes<<<grid, kThreads, shared>>>(d_x, d_w, norm, d_y, c, h, w, k);
}
