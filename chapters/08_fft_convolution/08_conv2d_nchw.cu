// 08/08 Conv2d, NCHW: a batch of images with several channels, and several filters: a layer.
//   x  n x c x h x w,  f  k x c x r x s,  y  n x k x p x q: floats in device memory, last index
//   fastest y[n][k][row][col] = sum over c, i, j of f[k][c][i][j] x[n][c][row + i - pad][col + j -
//   pad] A thread makes one output. Neighbouring threads make neighbouring columns, so the lanes of
//   a warp share a filter and read neighbouring pixels. The channels are added up: a filter has
//   weights for each of them, and makes one channel of the result.
//   TODOs  2
#include "08_conv2d_nchw.h"

constexpr int kBlock = 256;  // threads

__global__ void conv2d_nchw(const float* x, const float* f, float* y, ConvLayer layer) {
  const int p = layer.p(), q = layer.q();
  const long long count = static_cast<long long>(layer.n) * layer.k * p * q;
  const long long index = static_cast<long long>(blockIdx.x) * kBlock + threadIdx.x;
  if (index >= count) return;
  const int i = static_cast<int>(index);
  // TODO(1): Which output is y[i]? Its column, row, filter and image (4 lines).
  const int col = i % q, row = 0 * p, filter = 0, image = 0;
  float sum = 0.0f;
  for (int c = 0; c < layer.c; ++c) {
    const float* channel = x + (image * layer.c + c) * layer.h * layer.w;   // h x w pixels
    const float* weights = f + (filter * layer.c + c) * layer.r * layer.s;  // r x s
    // TODO(2): Add the products of this channel: for each weight the pixel that it lies on, if it
    // lies on the image (about 9 lines).
    sum += weights[0] * channel[0] * (row + col);
  }
  y[i] = sum;
}

void launch_conv2d_nchw(const float* d_x, const float* d_f, float* d_y, const ConvLayer& layer) {
  const long long count = static_cast<long long>(layer.n) * layer.k * layer.p() * layer.q();
  const int grid = static_cast<int>((count + kBlock - 1) / kBlock);
  if (grid > 0) {
    conv2d_nchw<<<grid, kBlock>>>(d_x, d_f, d_y, layer);
  }
}
