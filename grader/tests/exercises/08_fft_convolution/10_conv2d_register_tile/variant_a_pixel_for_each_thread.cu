// A thread makes the elements of one column of X, so it takes its pixel apart once, before the
// loop: what is left for each element is the number of the product. 32 filters x 256 pixels.
#include "10_conv2d_register_tile.h"

namespace {

constexpr int kThreads = 256, kStep = 8, kFilters = 32, kPixels = kThreads;

__global__ void by_columns(const float* x, const float* f, float* y, ConvLayer layer) {
  __shared__ float tile_f[kStep][kFilters], tile_x[kStep][kPixels];
  const unsigned t = threadIdx.x, p = layer.p(), q = layer.q(), each = layer.r * layer.s;
  const unsigned pixels = layer.n * p * q, products = layer.c * each;
  const unsigned mine = blockIdx.x * kPixels + t, first_filter = blockIdx.y * kFilters;
  const int row = static_cast<int>(mine / q % p) - layer.pad;
  const int col = static_cast<int>(mine % q) - layer.pad;
  const unsigned image = mine / (p * q);
  const unsigned lane = t % 32, group = t / 32;  // pixels lane, lane + 32, ..., filters 4 group ..
  float sums[4][8] = {};
  for (unsigned first = 0; first < products; first += kStep) {
    const unsigned filter = first_filter + t / kStep, weight = first + t % kStep;
    const bool is_weight = filter < static_cast<unsigned>(layer.k) && weight < products;
    tile_f[t % kStep][t / kStep] = is_weight ? f[filter * products + weight] : 0.0f;
    for (unsigned i = 0; i < kStep; ++i) {
      const unsigned j = first + i;
      const int at_row = row + static_cast<int>(j % each / layer.s);
      const int at_col = col + static_cast<int>(j % layer.s);
      const bool inside = mine < pixels && j < products && at_row >= 0 && at_row < layer.h &&
                          at_col >= 0 && at_col < layer.w;
      tile_x[i][t] =
          inside ? x[((image * layer.c + j / each) * layer.h + at_row) * layer.w + at_col] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kStep; ++i) {
      float v[8];
      for (int b = 0; b < 8; ++b) v[b] = tile_x[i][lane + 32 * b];
      for (int a = 0; a < 4; ++a) {
        const float u = tile_f[i][4 * group + a];
        for (int b = 0; b < 8; ++b) sums[a][b] += u * v[b];
      }
    }
    __syncthreads();
  }
  for (int e = 0; e < 32; ++e) {
    const unsigned filter = first_filter + 4 * group + e % 4;
    const unsigned pixel = blockIdx.x * kPixels + lane + e / 4 * 32;
    if (filter < static_cast<unsigned>(layer.k) && pixel < pixels) {
      y[(pixel / (p * q) * layer.k + filter) * p * q + pixel % (p * q)] = sums[e % 4][e / 4];
    }
  }
}

}  // namespace

void launch_conv2d_register_tile(const float* d_x, const float* d_f, float* d_y,
                                 const ConvLayer& layer) {
  const unsigned pixels = layer.n * layer.p() * layer.q();
  const dim3 grid((pixels + kPixels - 1) / kPixels, (layer.k + kFilters - 1) / kFilters);
  if (pixels > 0) by_columns<<<grid, kThreads>>>(d_x, d_f, d_y, layer);
}
