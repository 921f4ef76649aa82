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
  //~ // TODO(1): The element of x, if there is one. Products are numbered as the weights of a filter
  //~ // lie in memory (about 12 lines).
  //~ static_cast<void>(x), static_cast<void>(layer.pad), static_cast<void>(j + pixel);
  //~begin 1
  const unsigned p = layer.p(), q = layer.q(), r = layer.r, s = layer.s;
  const unsigned channel = j / (r * s), image = pixel / (p * q);
  if (channel < layer.c && image < layer.n) {
    const int row = static_cast<int>(pixel / q % p + j / s % r) - layer.pad;
    const int col = static_cast<int>(pixel % q + j % s) - layer.pad;
    if (row >= 0 && row < layer.h && col >= 0 && col < layer.w) {
      element = x[((image * layer.c + channel) * layer.h + row) * layer.w + col];
    }
  }
  //~end
  return element;
}

//~ // TODO(2): This is 09 by way of X: a thread makes one output, and an element of X is made anew for
//~ // each filter. What must hold instead: a block makes a tile of filters by pixels, and brings what
//~ // its products need to shared memory once; a thread makes a rectangle of the tile, so that a word
//~ // from there, once in a register, serves about four products.
//~ constexpr int kThreads = 256;              // of a block
//~ constexpr int kFilters = 1, kPixels = 256;  // of y, per block
//~
//~ __global__ void __launch_bounds__(kThreads)
//~     conv2d_register_tile(const float* x, const float* f, float* y, ConvLayer layer) {
//~   const unsigned plane = layer.p() * layer.q(), pixel = blockIdx.x * kPixels + threadIdx.x;
//~   const unsigned products = layer.c * layer.r * layer.s, filter = blockIdx.y;
//~   float sum = 0.0f;
//~   for (unsigned j = 0; j < products; ++j) {
//~     sum += f[filter * products + j] * element_of_x(x, layer, j, pixel);
//~   }
//~   if (pixel < layer.n * plane) {
//~     y[(pixel / plane * layer.k + filter) * plane + pixel % plane] = sum;
//~   }
//~ }
//~begin 2
constexpr int kSide = 16, kThreads = kSide * kSide;         // of a block
constexpr int kOwn = 4;                                     // filters, and pixels, of a thread
constexpr int kFilters = kSide * kOwn, kPixels = kFilters;  // of y, per block
constexpr int kStep = 16;                                   // products from barrier to barrier

__global__ void __launch_bounds__(kThreads)
    conv2d_register_tile(const float* x, const float* f, float* y, ConvLayer layer) {
  __shared__ float tile_f[kFilters][kStep];  // [filter][product]
  __shared__ float tile_x[kStep][kPixels];   // [product][pixel]
  const int t = threadIdx.x, tx = t % kSide, ty = t / kSide;
  const unsigned first_filter = blockIdx.y * kFilters, first_pixel = blockIdx.x * kPixels;
  const unsigned products = layer.c * layer.r * layer.s;
  float sums[kOwn][kOwn] = {};  // [filter of this thread][pixel of this thread]
  for (unsigned first = 0; first < products; first += kStep) {
    for (int e = t; e < kFilters * kStep; e += kThreads) {
      const unsigned filter = first_filter + e / kStep, j = first + e % kStep;
      const bool exists = filter < layer.k && j < products;
      tile_f[e / kStep][e % kStep] = exists ? f[filter * products + j] : 0.0f;
    }
    for (int e = t; e < kStep * kPixels; e += kThreads) {
      tile_x[e / kPixels][e % kPixels] =
          element_of_x(x, layer, first + e / kPixels, first_pixel + e % kPixels);
    }
    __syncthreads();  // closes write against read: other threads have made most of what is read
#pragma unroll 4
    for (int j = 0; j < kStep; ++j) {
      float u[kOwn], v[kOwn];  // 8 words for 16 multiply-adds
      for (int a = 0; a < kOwn; ++a) u[a] = tile_f[ty + kSide * a][j];
      for (int b = 0; b < kOwn; ++b) v[b] = tile_x[j][tx + kSide * b];
      for (int a = 0; a < kOwn; ++a) {
        for (int b = 0; b < kOwn; ++b) sums[a][b] += u[a] * v[b];
      }
    }
    __syncthreads();  // closes read against write: the next step overwrites both tiles
  }
  const unsigned plane = layer.p() * layer.q();
  for (int b = 0; b < kOwn; ++b) {
    const unsigned pixel = first_pixel + tx + kSide * b;
    if (pixel >= layer.n * plane) continue;
    float* const of_image = y + pixel / plane * layer.k * plane + pixel % plane;
    for (int a = 0; a < kOwn; ++a) {
      const unsigned filter = first_filter + ty + kSide * a;
      if (filter < layer.k) of_image[filter * plane] = sums[a][b];
    }
  }
}
//~end

void launch_conv2d_register_tile(const float* d_x, const float* d_f, float* d_y,
                                 const ConvLayer& layer) {
  const unsigned pixels = layer.n * layer.p() * layer.q();
  const dim3 grid((pixels + kPixels - 1) / kPixels, (layer.k + kFilters - 1) / kFilters);
  if (pixels > 0) conv2d_register_tile<<<grid, kThreads>>>(d_x, d_f, d_y, layer);
}
