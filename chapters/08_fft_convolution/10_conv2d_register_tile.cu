// 08/10 Conv2d, register tile: a layer as a matrix product of which one factor is never stored.
//   x  n x c x h x w,  f  k x c x r x s,  y  n x k x p x q, as in 09.
//   The pixels of the result are numbered: image by image, row by row. y = f X: f is k x (c r s), as
//   it lies in memory. X is (c r s) x (n p q): its column for a pixel of the result lists what lies
//   under a filter there, one element of x for each product, or 0. X is nowhere in memory; where
//   one of its elements is needed, element_of_x says what it is.
//   TODOs  2
#include "10_conv2d_register_tile.h"

// Row j of X, column `pixel`: what product j of this pixel multiplies its weight by. 0 outside the
// image, and outside X.
__device__ float element_of_x(const float* x, const ConvLayer& layer, unsigned j, unsigned pixel) {
  float element = 0.0f;
  // TODO(1): The element of x, if there is one. Products are numbered as the weights of a filter
  // lie in memory (about 12 lines).
  static_cast<void>(x), static_cast<void>(layer.pad), static_cast<void>(j + pixel);
  return element;
}

// TODO(2): This is 09 by way of X: a thread makes one output, and an element of X is made anew for
// each filter. What must hold instead: a block makes a tile of filters by pixels, and brings what
// its products need to shared memory once; a thread makes a rectangle of the tile, so that a word
// from there, once in a register, serves about four products.
constexpr int kThreads = 256;              // of a block
constexpr int kFilters = 1, kPixels = 256;  // of y, per block

__global__ void __launch_bounds__(kThreads)
    conv2d_register_tile(const float* x, const float* f, float* y, ConvLayer layer) {
  const unsigned plane = layer.p() * layer.q(), pixel = blockIdx.x * kPixels + threadIdx.x;
  const unsigned products = layer.c * layer.r * layer.s, filter = blockIdx.y;
  float sum = 0.0f;
  for (unsigned j = 0; j < products; ++j) {
    sum += f[filter * products + j] * element_of_x(x, layer, j, pixel);
  }
  if (pixel < layer.n * plane) {
    y[(pixel / plane * layer.k + filter) * plane + pixel % plane] = sum;
  }
}

void launch_conv2d_register_tile(const float* d_x, const float* d_f, float* d_y,
                                 const ConvLayer& layer) {
  const unsigned pixels = layer.n * layer.p() * layer.q();
  const dim3 grid((pixels + kPixels - 1) / kPixels, (layer.k + kFilters - 1) / kFilters);
  if (pixels > 0) conv2d_register_tile<<<grid, kThreads>>>(d_x, d_f, d_y, layer);
}
