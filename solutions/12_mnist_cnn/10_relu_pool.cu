// 12/10 ReLU and max pool, forward and backward: one pass each, and nothing remembered in between.
//   x, dx  planes x h x w floats;  y, dy  planes x (h/2) x (w/2); a plane is a channel of an image
//   y is the greatest of a 2 x 2 window of relu(x). Backward, dy belongs to the one value that
//   became y. Which one it was is seen from x again, so that forward need not write it down.
//   TODOs  3
#include "10_relu_pool.h"

namespace {

constexpr int kThreads = 256;

// A window: its place in the planes of x and of y.
struct Window {
  int plane, row, col;  // row and col in y
  __device__ Window(int i, int rows, int cols)
      : plane(i / (rows * cols)), row(i / cols % rows), col(i % cols) {}
};

__global__ void relu_pool_forward(const float* x, float* y, int count, int h, int w) {
  //~ // TODO(1): All `count` values of y.
  //~ const int i = blockIdx.x * kThreads + threadIdx.x;
  //~ if (i < count) y[i] = x[Window(i, h / 2, w / 2).plane * h * w];
  //~begin 1
  const int i = blockIdx.x * kThreads + threadIdx.x;  // in y
  if (i >= count) return;
  const Window window(i, h / 2, w / 2);
  const float* top = x + (static_cast<size_t>(window.plane) * h + 2 * window.row) * w;
  const float* pair = top + 2 * window.col;  // and below it pair + w
  const float greatest = fmaxf(fmaxf(pair[0], pair[1]), fmaxf(pair[w], pair[w + 1]));
  y[i] = fmaxf(greatest, 0.0f);
  //~end
}

// A thread per 2 x 2 patch of dx; with odd sides the last patches are no windows.
__global__ void relu_pool_backward(const float* x, const float* dy, float* dx, int count, int h,
                                   int w) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= count) return;
  //~ // TODO(2): The patch of this thread: row and col of its corner in a plane of x, and where in x
  //~ // that corner lies.
  //~ const Window window(i, h, w);
  //~ const int row = 0, col = 0;
  //~ const size_t corner = window.plane < count ? 0 : 1;
  //~begin 2
  const Window window(i, (h + 1) / 2, (w + 1) / 2);
  const int row = 2 * window.row, col = 2 * window.col;  // of the patch in x
  const size_t corner = (static_cast<size_t>(window.plane) * h + row) * w + col;
  //~end
  int place = -1;     // of the value that gets dy: 0 1 above 2 3; -1: none does
  float of_y = 0.0f;  // dy of this window
  if (row + 1 < h && col + 1 < w) {
    //~ // TODO(2), too: place, and dy of this window in of_y: which value of x became y, if any of them
    //~ // is above 0? Of equal ones the first.
    //~ if (x[corner] > 0.0f) place = 0;
    //~ of_y = dy[0];
    //~begin 2
    of_y = dy[(static_cast<size_t>(window.plane) * (h / 2) + window.row) * (w / 2) + window.col];
    float greatest = 0.0f;
    for (int k = 0; k < 4; ++k) {
      const float value = x[corner + k / 2 * w + k % 2];
      if (value > greatest) {
        greatest = value;
        place = k;
      }
    }
    //~end
  }
  //~ // TODO(3): Every value of this patch that exists is in dx: of_y at place, 0 elsewhere.
  //~ dx[corner] = place == 0 ? of_y : 0.0f;
  //~begin 3
  for (int k = 0; k < 4; ++k) {
    if (row + k / 2 < h && col + k % 2 < w) {
      dx[corner + k / 2 * w + k % 2] = k == place ? of_y : 0.0f;
    }
  }
  //~end
}

}  // namespace

void launch_relu_pool_forward(const float* d_x, float* d_y, int n, int c, int h, int w) {
  //~ // TODO(1), too: The launch, for any sizes.
  //~ if (n > 0 && c > 0) relu_pool_forward<<<1, 1>>>(d_x, d_y, 1, h, w);
  //~begin 1
  const int count = n * c * (h / 2) * (w / 2), grid = (count + kThreads - 1) / kThreads;
  if (grid > 0) relu_pool_forward<<<grid, kThreads>>>(d_x, d_y, count, h, w);
  //~end
}

void launch_relu_pool_backward(const float* d_x, const float* d_dy, float* d_dx, int n, int c,
                               int h, int w) {
  //~ // TODO(3), too: The launch, for any sizes: every value of dx has a patch.
  //~ if (n > 0 && c > 0) relu_pool_backward<<<1, 1>>>(d_x, d_dy, d_dx, 1, h, w);
  //~begin 3
  const int count = n * c * ((h + 1) / 2) * ((w + 1) / 2);  // patches
  const int grid = (count + kThreads - 1) / kThreads;
  if (grid > 0) relu_pool_backward<<<grid, kThreads>>>(d_x, d_dy, d_dx, count, h, w);
  //~end
}
