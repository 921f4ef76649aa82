// Four neighbours travel in 16 bytes from both tiles, as in 07/08: a thread makes two groups of
// four filters and one of four pixels. The tile of f is turned for that, by 128 threads.
#include "10_conv2d_register_tile.h"

namespace {

constexpr int kThreads = 128, kStep = 8, kFilters = 64, kPixels = 64, kPitch = kFilters + 4;

__device__ float4 four(const float* from) { return *reinterpret_cast<const float4*>(from); }

__device__ float pixel_under(const float* x, const ConvLayer& layer, long long j, long long i) {
  const long long each = static_cast<long long>(layer.r) * layer.s;
  const long long plane = static_cast<long long>(layer.p()) * layer.q();
  if (j >= each * layer.c || i >= plane * layer.n) return 0.0f;
  const long long row = i % plane / layer.q() + j % each / layer.s - layer.pad;
  const long long col = i % layer.q() + j % layer.s - layer.pad;
  if (row < 0 || row >= layer.h || col < 0 || col >= layer.w) return 0.0f;
  return x[((i / plane * layer.c + j / each) * layer.h + row) * layer.w + col];
}

__global__ void wide(const float* x, const float* f, float* y, ConvLayer layer) {
  __shared__ __align__(16) float tile_f[kStep][kPitch], tile_x[kStep][kPixels];
  const int t = threadIdx.x, from_f = t / 16 * 4, from_x = t % 16 * 4;
  const long long first_filter = static_cast<long long>(blockIdx.y) * kFilters;
  const long long first_pixel = static_cast<long long>(blockIdx.x) * kPixels;
  const long long products = static_cast<long long>(layer.c) * layer.r * layer.s;
  float sums[8][4] = {};
  for (long long first = 0; first < products; first += kStep) {
    for (int e = t; e < kStep * kFilters; e += kThreads) {
      const long long filter = first_filter + e / kStep, j = first + e % kStep;
      const bool exists = filter < layer.k && j < products;
      tile_f[e % kStep][e / kStep] = exists ? f[filter * products + j] : 0.0f;
      tile_x[e / kPixels][e % kPixels] =
          pixel_under(x, layer, first + e / kPixels, first_pixel + e % kPixels);
    }
    __syncthreads();
    for (int j = 0; j < kStep; ++j) {
      const float4 v4 = four(&tile_x[j][from_x]);
      const float4 u4[2] = {four(&tile_f[j][from_f]), four(&tile_f[j][from_f + 32])};
      const float* u = reinterpret_cast<const float*>(u4);
      const float* v = reinterpret_cast<const float*>(&v4);
#pragma unroll
      for (int e = 0; e < 32; ++e) sums[e / 4][e % 4] += u[e / 4] * v[e % 4];
    }
    __syncthreads();
  }
  const long long plane = static_cast<long long>(layer.p()) * layer.q();
#pragma unroll
  for (int e = 0; e < 32; ++e) {
    const long long filter = first_filter + from_f + e / 16 * 32 + e / 4 % 4;
    const long long pixel = first_pixel + from_x + e % 4;
    if (filter < layer.k && pixel < plane * layer.n) {
      y[(pixel / plane * layer.k + filter) * plane + pixel % plane] = sums[e / 4][e % 4];
    }
  }
}

}  // namespace

void launch_conv2d_register_tile(const float* d_x, const float* d_f, float* d_y,
                                 const ConvLayer& layer) {
  const long long pixels = static_cast<long long>(layer.n) * layer.p() * layer.q();
  const dim3 grid(static_cast<unsigned>((pixels + kPixels - 1) / kPixels),
                  (layer.k + kFilters - 1) / kFilters);
  if (pixels > 0) wide<<<grid, kThreads>>>(d_x, d_f, d_y, layer);
}
