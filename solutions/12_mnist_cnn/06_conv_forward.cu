// 12/06 Convolution, forward: a thread makes a 2 x 2 patch of eight output channels.
//   x  n x c x h x w,  weights  k x c x 3 x 3,  y  n x k x h x w: floats in device memory, last
//   index fastest; 3 x 3 filters with a border of zeros, so y is as large as x; any sizes.
//   08/09 made one output per thread and loaded both factors of every product. The 4 outputs of a
//   patch share 16 pixels, and 8 filters share those 16 again: 288 products from 16 loads.
//   TODOs  3
#include "06_conv_forward.h"
#include "06_conv_forward_support.h"

namespace {

constexpr int kThreads = 128;
constexpr int kOwn = 8;        // filters of a thread, and of its block
constexpr int kChannels = 16;  // of x, whose weights lie in shared memory at a time

__global__ void __launch_bounds__(kThreads)
    conv_forward(const float* x, const float* weights, float* y, int n, int c, int h, int w,
                 int k) {
  const int first_filter = blockIdx.y * kOwn;
  const int rows = (h + 1) / 2, cols = (w + 1) / 2;  // patches in a plane
  const int i = blockIdx.x * kThreads + threadIdx.x;
  const bool has_patch = i < n * rows * cols;  // no return: barriers follow
  //~ // TODO(1): Patches are numbered along a row, row by row, image by image. Of patch i: the image,
  //~ // and row and col of its first output (3 lines).
  //~ const int image = 0, row = 0, col = 0;
  //~begin 1
  const int image = i / (rows * cols);
  const int row = i / cols % rows * 2;
  const int col = i % cols * 2;
  //~end
  float sums[kOwn][2][2] = {};  // [filter][row][col of the patch]
  //~ // TODO(2): sums is complete: each filter's four outputs of the patch, over all channels. A block
  //~ // loads each weight from global memory once, kChannels channels at a time; lanes without a patch
  //~ // meet every barrier. Every index of sums and of a window is known when this is compiled.
  //~ static_cast<void>(first_filter), static_cast<void>(c), static_cast<void>(kChannels);
  //~ static_cast<void>(image), static_cast<void>(row), static_cast<void>(col);
  //~ if (has_patch) sums[0][0][0] = x[0] * weights[0];
  //~begin 2
  __shared__ float tile[kChannels * 9][kOwn];  // [channel, weight][filter]
  for (int first = 0; first < c; first += kChannels) {
    const int tile_size = min(kChannels, c - first) * 9;  // weights per filter
    __syncthreads();  // read against write: all threads have used the tile before
    for (int e = threadIdx.x; e < tile_size * kOwn; e += kThreads) {
      const int filter = first_filter + e / tile_size, j = e % tile_size;
      tile[j][e / tile_size] = filter < k ? weights[(filter * c + first) * 9 + j] : 0.0f;
    }
    __syncthreads();  // write against read: the tile is complete
    if (!has_patch) continue;
    for (int channel = 0; channel < tile_size / 9; ++channel) {
      const float* plane = x + (static_cast<size_t>(image) * c + first + channel) * h * w;
      float window[4][4];  // x from (row - 1, col - 1)
      load_window(plane, row, col, h, w, window);
#pragma unroll
      for (int j = 0; j < 9; ++j) {
        const float* of_j = tile[channel * 9 + j];  // weight j of each filter
        for (int filter = 0; filter < kOwn; ++filter) {
          for (int p = 0; p < 4; ++p) {  // outputs of the patch
            sums[filter][p / 2][p % 2] += of_j[filter] * window[j / 3 + p / 2][j % 3 + p % 2];
          }
        }
      }
    }
  }
  //~end
  if (!has_patch) return;
  //~ // TODO(3): Write the sums of those outputs that exist: k, h and w may end inside the patch
  //~ // (about 9 lines).
  //~ y[i] = sums[0][0][0];
  //~begin 3
#pragma unroll
  for (int filter = 0; filter < kOwn; ++filter) {
    if (first_filter + filter >= k) break;
    float* plane = y + (static_cast<size_t>(image) * k + first_filter + filter) * h * w;
#pragma unroll
    for (int p = 0; p < 4; ++p) {
      const int to_row = row + p / 2, to_col = col + p % 2;
      if (to_row < h && to_col < w) plane[to_row * w + to_col] = sums[filter][p / 2][p % 2];
    }
  }
  //~end
}

}  // namespace

void launch_conv_forward(const float* d_x, const float* d_w, float* d_y, int n, int c, int h, int w,
                         int k) {
  const int patches = n * ((h + 1) / 2) * ((w + 1) / 2);
  const dim3 grid((patches + kThreads - 1) / kThreads, (k + kOwn - 1) / kOwn);
  if (patches > 0) conv_forward<<<grid, kThreads>>>(d_x, d_w, d_y, n, c, h, w, k);
}
