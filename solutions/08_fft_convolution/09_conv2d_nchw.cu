// 08/09 Conv2d, NCHW: a batch of images with several channels, and several filters: a layer.
//   x  n x c x h x w,  f  k x c x r x s,  y  n x k x p x q: floats in device memory, the last index
//   fastest.
//   y[n][k][row][col] = sum over c, i, j of f[k][c][i][j] x[n][c][row + i - pad][col + j - pad].
//   A thread makes one output. Neighbouring threads make neighbouring columns, so the lanes of a
//   warp share a filter and read neighbouring pixels. The channels are added up: a filter has
//   weights for each of them, and makes one channel of the result.
//   TODOs  2
#include "09_conv2d_nchw.h"

constexpr int kBlock = 256;  // threads

__global__ void conv2d_nchw(const float* x, const float* f, float* y, ConvLayer layer) {
  //~ // TODO(1): i is this thread's output, if there is one, and col, row, filter and image are its
  //~ // place (about 9 lines, and 5 for the launch).
  //~ const int i = threadIdx.x, col = i, row = 0, filter = 0, image = 0;
  //~ if (i >= layer.q()) return;
  //~begin 1
  const int p = layer.p(), q = layer.q();
  const long long count = static_cast<long long>(layer.n) * layer.k * p * q;
  const long long index = static_cast<long long>(blockIdx.x) * kBlock + threadIdx.x;
  if (index >= count) return;
  const int i = static_cast<int>(index);
  const int col = i % q;
  const int row = i / q % p;
  const int filter = i / (q * p) % layer.k;
  const int image = i / (q * p * layer.k);
  //~end
  //~ // TODO(2): y[i] is the sum over the channels and the weights of this filter, each weight times
  //~ // the pixel that it lies on, if it lies on the image (about 14 lines).
  //~ y[i] = x[image] * f[filter] * (row + col);
  //~begin 2
  float sum = 0.0f;
  for (int c = 0; c < layer.c; ++c) {
    const float* channel = x + (image * layer.c + c) * layer.h * layer.w;   // h x w pixels
    const float* weights = f + (filter * layer.c + c) * layer.r * layer.s;  // r x s
    for (int r = 0; r < layer.r; ++r) {
      const int from_row = row + r - layer.pad;
      if (from_row < 0 || from_row >= layer.h) continue;
      for (int s = 0; s < layer.s; ++s) {
        const int from_col = col + s - layer.pad;
        if (from_col < 0 || from_col >= layer.w) continue;
        sum += weights[r * layer.s + s] * channel[from_row * layer.w + from_col];
      }
    }
  }
  y[i] = sum;
  //~end
}

void launch_conv2d_nchw(const float* d_x, const float* d_f, float* d_y, const ConvLayer& layer) {
  //~ if (layer.n > 0) conv2d_nchw<<<1, kBlock>>>(d_x, d_f, d_y, layer);
  //~begin 1
  const long long count = static_cast<long long>(layer.n) * layer.k * layer.p() * layer.q();
  const int grid = static_cast<int>((count + kBlock - 1) / kBlock);
  if (grid > 0) {
    conv2d_nchw<<<grid, kBlock>>>(d_x, d_f, d_y, layer);
  }
  //~end
}
