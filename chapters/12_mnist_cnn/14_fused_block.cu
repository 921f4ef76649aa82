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
  // TODO(2): The window of this thread, if it has one, and the first filter of this block: row and
  // col count the windows of a plane, of which there are rows x cols. Barriers follow.
  const int first_filter = 0, rows = h / 2, cols = w / 2, image = 0, row = 0, col = 0;
  const bool has_window = blockIdx.x == 0 && n * rows * cols > 0;
  float sums[kOwn][4] = {};  // [filter][output of the window]
  for (int first = 0; first < c; first += kChannels) {
    // TODO(1): tile holds the weights of these channels, one row per weight and a column per filter
    // of the block, 0 where there is no filter. What of batch norm can be a part of them is one.
    // From here to the next TODO no thread reads what others may still write, and none writes what
    // others may still read.
    const int tile_size = min(kChannels, c - first) * 9;
    if (threadIdx.x < kOwn) tile[0][threadIdx.x] = weights[first_filter];
    if (!has_window) continue;
    // TODO(2), too: These channels' part of the four outputs of the window is in sums, for each
    // filter.
    if (tile_size > 0) sums[0][0] += tile[0][threadIdx.x % kOwn] * x[0];
  }
  if (!has_window) return;
  // TODO(3): y holds this window's value of each filter that exists: batch norm, ReLU and pooling
  // of the four outputs.
  y[((static_cast<size_t>(image) * k + first_filter) * rows + row) * cols + col] =
      sums[0][0] * norm.d_beta[0];
}

}  // namespace

void launch_fused_block(const float* d_x, const float* d_w, BatchNorm norm, float* d_y, int n,
                        int c, int h, int w, int k) {
  // TODO(2), too: A grid for every window and every filter, of any sizes.
  if (n > 0) fused_block<<<1, kThreads>>>(d_x, d_w, norm, d_y, n, c, h, w, k);
}
