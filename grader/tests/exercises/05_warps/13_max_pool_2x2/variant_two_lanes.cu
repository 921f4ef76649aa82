// Another right answer: two lanes share a window, each loads a column of it, and the halves meet in
// a shuffle. Neighbouring lanes read neighbouring floats, at odd widths as well.
#include "13_max_pool_2x2.h"

template <bool kAverage>
__global__ void pool_by_pairs(const float* x, float* y, size_t windows, int height, int width) {
  const int out_height = height / 2, out_width = width / 2;
  const size_t thread = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const size_t window = thread / 2, side = thread % 2;
  if (window >= windows) return;  // both lanes of a window go together
  const size_t row = window / out_width, plane = row / out_height;
  const size_t first_row = plane * height + row % out_height * 2;
  const float* top = x + first_row * width + window % out_width * 2 + side;
  const float upper = fmaxf(top[0], 0.0f), lower = fmaxf(top[width], 0.0f);
  const float mine = kAverage ? upper + lower : fmaxf(upper, lower);
  const float other = __shfl_xor_sync(__activemask(), mine, 1);
  if (side == 0) y[window] = kAverage ? 0.25f * (mine + other) : fmaxf(mine, other);
}

template <bool kAverage>
void launch_pairs(const float* d_x, float* d_y, int planes, int height, int width) {
  const size_t windows = static_cast<size_t>(planes) * (height / 2) * (width / 2);
  if (windows == 0) return;
  const int grid = static_cast<int>((2 * windows + 191) / 192);
  pool_by_pairs<kAverage><<<grid, 192>>>(d_x, d_y, windows, height, width);
}

void launch_relu_max_pool(const float* d_x, float* d_y, int planes, int height, int width) {
  launch_pairs<false>(d_x, d_y, planes, height, width);
}

void launch_relu_average_pool(const float* d_x, float* d_y, int planes, int height, int width) {
  launch_pairs<true>(d_x, d_y, planes, height, width);
}
