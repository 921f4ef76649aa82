// 12/14 Fused block: convolution, batch norm, ReLU and pooling in one kernel, for prediction.
//   x  n x c x h x w;  weights  k x c x 3 x 3;  y  n x k x (h/2) x (w/2); any sizes
//   The 2 x 2 patch of 12/06 is the window of the pooling: what four kernels hand on through
//   memory, four times the output, stays in registers. Batch norm with given statistics is a factor
//   and an offset for each filter, and a factor of the sum is a factor of its weights: it is folded
//   in.
//   TODOs  3
#include "06_conv_forward_support.h"
#include "14_fused_block.h"

namespace {

constexpr int kThreads = 128;
constexpr int kOwn = 8;        // filters of a thread, and of its block
constexpr int kChannels = 16;  // of x, whose weights lie in shared memory at a time

__global__ void __launch_bounds__(kThreads)
    fused_block(const float* x, const float* weights, BatchNorm norm, float* y, int n, int c, int h,
                int w, int k) {
  __shared__ float tile[kChannels * 9][kOwn];  // [channel, weight][filter], batch norm folded in
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
      const int filter = first_filter + e / tile_size, j = e % tile_size;
      float weight = 0.0f;
      if (filter < k) {
        weight = weights[(filter * c + first) * 9 + j];
        //~ // TODO(1): Fold in the factor of batch norm, gamma (x - mean) inv_std + beta (1 line).
        //~begin 1
        weight *= norm.d_gamma[filter] * norm.d_inv_std[filter];
        //~end
      }
      tile[j][e / tile_size] = weight;
    }
    __syncthreads();  // write against read: the tile is complete
    if (!has_window) continue;
    for (int channel = 0; channel < tile_size / 9; ++channel) {
      const float* plane = x + (static_cast<size_t>(image) * c + first + channel) * h * w;
      float pixels[4][4];  // x from (2 row - 1, 2 col - 1)
      load_window(plane, 2 * row, 2 * col, h, w, pixels);
#pragma unroll
      for (int j = 0; j < 9; ++j) {
        const float* of_j = tile[channel * 9 + j];  // weight j of each filter
        //~ // TODO(2): Add up the four outputs of the window, for each filter, as in 12/06 (5 lines).
        //~ sums[0][0] += of_j[0] * pixels[0][0];
        //~begin 2
        for (int filter = 0; filter < kOwn; ++filter) {
          for (int p = 0; p < 4; ++p) {
            sums[filter][p] += of_j[filter] * pixels[j / 3 + p / 2][j % 3 + p % 2];
          }
        }
        //~end
      }
    }
  }
  if (!has_window) return;
#pragma unroll
  for (int own = 0; own < kOwn; ++own) {
    const int filter = first_filter + own;
    if (filter >= k) break;
    float result = sums[own][0];
    //~ // TODO(3): Pooling, what is left of batch norm, ReLU: what may come after the maximum, because
    //~ // all four outputs share it? (about 4 lines)
    //~ result *= norm.d_beta[filter];
    //~begin 3
    const float greatest = fmaxf(fmaxf(sums[own][0], sums[own][1]),  //
                                 fmaxf(sums[own][2], sums[own][3]));
    const float scale = norm.d_gamma[filter] * norm.d_inv_std[filter];
    result = fmaxf(greatest + norm.d_beta[filter] - norm.d_mean[filter] * scale, 0.0f);
    //~end
    y[((static_cast<size_t>(image) * k + filter) * rows + row) * cols + col] = result;
  }
}

}  // namespace

void launch_fused_block(const float* d_x, const float* d_w, BatchNorm norm, float* d_y, int n,
                        int c, int h, int w, int k) {
  const int windows = n * (h / 2) * (w / 2);
  const dim3 grid((windows + kThreads - 1) / kThreads, (k + kOwn - 1) / kOwn);
  if (windows > 0) fused_block<<<grid, kThreads>>>(d_x, d_w, norm, d_y, n, c, h, w, k);
}
