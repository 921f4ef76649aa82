// Another right answer: backward, each row of a plane is walked by a warp, two columns per lane,
// two rows at a time; forward in a grid-stride loop.
#include "10_relu_pool.h"

namespace {

__global__ void pool(const float* x, float* y, int count, int h, int w) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const int col = i % (w / 2), row = i / (w / 2) % (h / 2), plane = i / (w / 2) / (h / 2);
    const float* from = x + (plane * h + 2 * row) * w + 2 * col;
    float greatest = 0.0f;
    for (int k = 0; k < 4; ++k) greatest = fmaxf(greatest, from[k / 2 * w + k % 2]);
    y[i] = greatest;
  }
}

__global__ void unpool(const float* x, const float* dy, float* dx, int pairs_of_rows, int h,
                       int w) {
  const int pair = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  if (pair >= pairs_of_rows) return;
  const int per_plane = (h + 1) / 2, plane = pair / per_plane, row = pair % per_plane;
  const float* upper = x + (plane * h + 2 * row) * w;
  float* to = dx + (plane * h + 2 * row) * w;
  const bool two_rows = 2 * row + 1 < h;
  for (int col = threadIdx.x % 32 * 2; col < w; col += 64) {
    float values[4] = {}, results[4] = {};
    if (two_rows && col + 1 < w) {
      const float change = dy[(plane * (h / 2) + row) * (w / 2) + col / 2];
      for (int k = 0; k < 4; ++k) values[k] = upper[k / 2 * w + col + k % 2];
      const float greatest = fmaxf(fmaxf(values[0], values[1]), fmaxf(values[2], values[3]));
      bool found = !(greatest > 0.0f);
      for (int k = 0; k < 4; ++k) {
        if (!found && values[k] == greatest) {
          results[k] = change;
          found = true;
        }
      }
    }
    for (int k = 0; k < 4; ++k) {
      if (col + k % 2 < w && (k < 2 || two_rows)) to[k / 2 * w + col + k % 2] = results[k];
    }
  }
}

}  // namespace

void launch_relu_pool_forward(const float* d_x, float* d_y, int n, int c, int h, int w) {
  const int count = n * c * (h / 2) * (w / 2);
  if (count > 0) pool<<<(count + 511) / 512, 128>>>(d_x, d_y, count, h, w);
}

void launch_relu_pool_backward(const float* d_x, const float* d_dy, float* d_dx, int n, int c,
                               int h, int w) {
  const int pairs = n * c * ((h + 1) / 2);
  if (pairs > 0) unpool<<<(pairs + 3) / 4, 128>>>(d_x, d_dy, d_dx, pairs, h, w);
}
