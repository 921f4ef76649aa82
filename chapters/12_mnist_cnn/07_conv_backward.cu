// 12/07 Convolution, backward: the derivatives by x and by the weights, without an atomic.
//   x, dx  n x c x h x w;  weights, dw  k x c x 3 x 3;  dy  n x k x h x w; any sizes, n may be 0
//   dx is a convolution too: of dy, with every filter turned by half a turn and the roles of input
//   and output channel exchanged. launch_conv_forward of 12/06 makes it.
//   dw: each weight sums up products over all images. Blocks sum up parts of the batch, and a
//   second kernel adds the parts in a fixed order: the same step gives the same bits again.
//   TODOs  4
#include <algorithm>

#include "06_conv_forward.h"
#include "06_conv_forward_support.h"
#include "07_conv_backward.h"
#include "support.h"

namespace {

constexpr int kThreads = 128;
constexpr int kWarp = 32;
constexpr int kOwn = 8;          // filters of a thread
constexpr int kSums = kOwn * 9;  // weights of these filters for one channel
constexpr int kBlocksWanted = 1024;
constexpr int kMostParts = 128;

// The most parts of the batch: as many blocks together as fill a card.
int most_parts(int n, int c, int k) {
  const int blocks = c * ((k + kOwn - 1) / kOwn);  // for one part
  return std::max(1, std::min({n, kMostParts, kBlocksWanted / blocks}));
}

// The parts of the batch: fewer than the most where a part would not have a patch for each thread.
int parts_of(int n, int c, int h, int w, int k) {
  const int patches = n * ((h + 1) / 2) * ((w + 1) / 2);
  return std::max(1, std::min(most_parts(n, c, k), patches / kThreads));
}

// turned  c x k x 3 x 3
__global__ void turn_filters(const float* weights, float* turned, int c, int k) {
  // TODO(1): The filters that 12/06 needs to make dx of dy.
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < c * k * 9) turned[i] = weights[0];
}

// of_parts  parts x k x c x 3 x 3. Block (part, channel, group): what the images of this part add
// to the weights of one channel in eight filters.
__global__ void __launch_bounds__(kThreads)
    sum_parts(const float* x, const float* dy, float* of_parts, int n, int c, int h, int w, int k) {
  __shared__ float of_warp[kThreads / kWarp][kSums];  // [warp][filter, weight]
  const int channel = blockIdx.y, first_filter = blockIdx.z * kOwn;
  const int begin = static_cast<long long>(n) * blockIdx.x / gridDim.x;  // images
  const int end = static_cast<long long>(n) * (blockIdx.x + 1) / gridDim.x;
  const int rows = (h + 1) / 2, cols = (w + 1) / 2;  // patches in a plane
  float sums[kSums] = {};                            // [filter][weight]
  // TODO(2): sums has what this thread's share of the patches of this part adds to nine weights of
  // each filter. Filters past the last one and outputs past the border add nothing. Every index of
  // sums is known when this is compiled.
  if (begin < end) sums[0] = x[0] * dy[0] * rows * cols;
  const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  // TODO(3): In thread t below kSums, `sum` is the total of sums[t] over all threads of the block.
  of_warp[warp][lane] = sums[0];
  const float sum = of_warp[warp][lane];
  const int filter = first_filter + threadIdx.x / 9;
  if (threadIdx.x < kSums && filter < k) {
    of_parts[((blockIdx.x * k + filter) * c + channel) * 9 + threadIdx.x % 9] = sum;
  }
}

// A warp per weight.
__global__ void add_parts(const float* of_parts, float* dw, int parts, int count) {
  // TODO(4): dw[i] is the sum of weight i over all parts, which lie `count` floats apart, in an
  // order that is always the same. The loads of a weight run side by side.
  const int i = blockIdx.x * (kThreads / kWarp) + threadIdx.x / kWarp;
  if (i < count && parts > 0) dw[i] = of_parts[i];
}

int blocks_for(int threads) { return (threads + kThreads - 1) / kThreads; }

}  // namespace

size_t conv_backward_scratch(int n, int c, int k) {
  return static_cast<size_t>(1 + most_parts(n, c, k)) * c * k * 9;
}

void launch_conv_backward(const float* d_x, const float* d_w, const float* d_dy, float* d_dx,
                          float* d_dw, float* d_scratch, int n, int c, int h, int w, int k) {
  const int count = k * c * 9, parts = parts_of(n, c, h, w, k);
  float* d_turned = d_scratch;         // c x k x 3 x 3
  float* d_parts = d_scratch + count;  // parts x k x c x 3 x 3
  // TODO(1), too: dx, if it is wanted, by the layer of 12/06: what does it take for its images, and
  // how many channels go in and out?
  if (d_dx != nullptr) turn_filters<<<blocks_for(1), kThreads>>>(d_w, d_turned, 1, 1);
  // TODO(2), too: All blocks that sum_parts needs for its parts of the batch.
  sum_parts<<<1, kThreads>>>(d_x, d_dy, d_parts, n, c, h, w, k);
  add_parts<<<1, kThreads>>>(d_parts, d_dw, parts, count);  // TODO(4), too: all weights.
}
