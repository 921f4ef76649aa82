// Given code of 08/11: 3 x 3 filters over few channels with fewer multiplications. Two outputs y of
// three weights g over four pixels d take four multiplications instead of six (Winograd 1980;
// for layers of networks: Lavin and Gray, arXiv:1509.09308):
//   m0 = (d0 - d2) g0   m1 = (d1 + d2) (g0 + g1 + g2) / 2   m2 = (d2 - d1) (g0 - g1 + g2) / 2
//   m3 = (d1 - d3) g2   y0 = m0 + m1 + m2                   y1 = m1 - m2 - m3
// In every column and then in every row: 2 x 2 outputs, a quad, take 16 instead of 36. Pixels and
// weights are transformed first, and channels are added up before y is made of m. So the work is 16
// matrix products, one for each part of m: (filters x channels) times (channels x quads).
#ifndef CHAPTERS_08_FFT_CONVOLUTION_11_CONV2D_IMPLICIT_GEMM_SUPPORT_H_
#define CHAPTERS_08_FFT_CONVOLUTION_11_CONV2D_IMPLICIT_GEMM_SUPPORT_H_

#include <cuda_runtime.h>

#include "09_conv2d_nchw.h"

namespace quads {

constexpr int kQuads = 32, kFilters = 32;  // of a block at a time
constexpr int kChannels = 16;              // at most
constexpr int kParts = 16;                 // of m, one for each warp
constexpr int kThreads = 32 * kParts;
constexpr int kPitch = kFilters + 4;  // floats; lanes that read neighbouring quads hit all banks

struct Shared {
  float filters[kParts][kChannels][kFilters];  // transformed, for all quads of the block
  union {
    float pixels[kParts][kChannels][kQuads];  // transformed
    float sums[kParts][kQuads][kPitch];       // the products, when nobody reads pixels any more
  };
};

// Where quad number `quad` of a layer lies: its upper left output. Quads of one image are numbered
// row by row; the last of a row or column may hang over the edge.
struct Place {
  int image, row, col;
};
__device__ inline Place place_of(const ConvLayer& layer, int quad) {
  const int across = (layer.q() + 1) / 2, per_image = (layer.p() + 1) / 2 * across;
  const int in_image = quad % per_image;
  return {quad / per_image, in_image / across * 2, in_image % across * 2};
}
inline int count_of(const ConvLayer& layer) {
  return layer.n * ((layer.p() + 1) / 2) * ((layer.q() + 1) / 2);
}

// All filters of the block. Each thread takes one filter and channel.
__device__ inline void transform_filters(Shared& shared, const float* f, const ConvLayer& layer,
                                         int first) {
  const int k = threadIdx.x % kFilters, c = threadIdx.x / kFilters;
  const bool inside = first + k < layer.k && c < layer.c;
  const float* from = f + (static_cast<size_t>(first + k) * layer.c + c) * 9;
  float h[4][3];  // columns are transformed
#pragma unroll
  for (int j = 0; j < 3; ++j) {
    const float g0 = inside ? from[j] : 0.0f, g1 = inside ? from[3 + j] : 0.0f;
    const float g2 = inside ? from[6 + j] : 0.0f;
    h[0][j] = g0, h[1][j] = 0.5f * (g0 + g1 + g2), h[2][j] = 0.5f * (g0 - g1 + g2), h[3][j] = g2;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    shared.filters[4 * i][c][k] = h[i][0];
    shared.filters[4 * i + 1][c][k] = 0.5f * (h[i][0] + h[i][1] + h[i][2]);
    shared.filters[4 * i + 2][c][k] = 0.5f * (h[i][0] - h[i][1] + h[i][2]);
    shared.filters[4 * i + 3][c][k] = h[i][2];
  }
}

// The 4 x 4 pixels under a quad, of the channel that this thread's warp has.
__device__ inline void load_pixels(float (&d)[4][4], const float* x, const ConvLayer& layer,
                                   int quad, int quads) {
  const int c = threadIdx.x / 32;
  const Place place = place_of(layer, quad);
  const int row = place.row - layer.pad, col = place.col - layer.pad;
  const float* from =
      x + ((static_cast<size_t>(place.image) * layer.c + c) * layer.h + row) * layer.w + col;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const bool inside = quad < quads && c < layer.c && row + i >= 0 && row + i < layer.h;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      d[i][j] = inside && col + j >= 0 && col + j < layer.w ? from[i * layer.w + j] : 0.0f;
    }
  }
}

// Warp w makes part w: 32 filters x 32 quads, 4 x 8 in each lane. Bits 0 and 4 of a lane count
// groups of quads, the others groups of filters: so neighbours always read the same 16 bytes.
struct Lane {
  int filter, quad;  // first of this lane; its second group of quads is 16 further
};
__device__ inline Lane lane_of(int lane) {
  return {(lane >> 1 & 7) * 4, ((lane & 1) | (lane >> 3 & 2)) * 4};
}
__device__ inline void multiply(const Shared& shared, float (&m)[4][8]) {
  const Lane at = lane_of(threadIdx.x % 32);
  const int part = threadIdx.x / 32;
#pragma unroll 4
  for (int c = 0; c < kChannels; ++c) {
    float u[4], v[8];
    *reinterpret_cast<float4*>(u) =
        *reinterpret_cast<const float4*>(&shared.filters[part][c][at.filter]);
#pragma unroll
    for (int j = 0; j < 8; j += 4) {
      *reinterpret_cast<float4*>(v + j) =
          *reinterpret_cast<const float4*>(&shared.pixels[part][c][at.quad + 4 * j]);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
      for (int j = 0; j < 8; ++j) m[i][j] += u[i] * v[j];
    }
  }
}
__device__ inline void store_sums(Shared& shared, const float (&m)[4][8]) {
  const Lane at = lane_of(threadIdx.x % 32);
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    float* to = &shared.sums[threadIdx.x / 32][at.quad + j % 4 + j / 4 * 16][at.filter];
    *reinterpret_cast<float4*>(to) = make_float4(m[0][j], m[1][j], m[2][j], m[3][j]);
  }
}

// y of one quad and filter from the 16 parts of m, as far as y goes. kPairs: two outputs of a row
// are 8 bytes, aligned.
template <bool kPairs>
__device__ inline void write_quad(float* y, const float (&m)[4][4], const ConvLayer& layer,
                                  const Place& place, int filter) {
  const int q = layer.q();
  float* to =
      y + ((static_cast<size_t>(place.image) * layer.k + filter) * layer.p() + place.row) * q;
  to += place.col;
  float h[2][4];  // columns are transformed
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    h[0][j] = m[0][j] + m[1][j] + m[2][j];
    h[1][j] = m[1][j] - m[2][j] - m[3][j];
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    if (place.row + i >= layer.p()) continue;
    const float left = h[i][0] + h[i][1] + h[i][2], right = h[i][1] - h[i][2] - h[i][3];
    if (kPairs) {
      *reinterpret_cast<float2*>(to + i * q) = make_float2(left, right);
    } else {
      to[i * q] = left;
      if (place.col + 1 < q) to[i * q + 1] = right;
    }
  }
}

// All outputs of 32 quads from number `first` on, by the first eight warps: a thread makes one quad
// of four filters. Lanes have neighbouring quads, so they write neighbours.
template <bool kPairs>
__device__ inline void write_outputs(const Shared& shared, float* y, const ConvLayer& layer,
                                     int first, int quads, int first_filter) {
  const int quad = threadIdx.x % kQuads, filter = threadIdx.x / kQuads * 4;
  if (filter >= kFilters || first + quad >= quads) return;
  const Place place = place_of(layer, first + quad);
  float m[4][4][4];  // [filter][row][column]
#pragma unroll
  for (int part = 0; part < kParts; ++part) {
    const float4 four = *reinterpret_cast<const float4*>(&shared.sums[part][quad][filter]);
    m[0][part / 4][part % 4] = four.x, m[1][part / 4][part % 4] = four.y;
    m[2][part / 4][part % 4] = four.z, m[3][part / 4][part % 4] = four.w;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int k = first_filter + filter + i;
    if (k < layer.k) write_quad<kPairs>(y, m[i], layer, place, k);
  }
}

// Blocks in x take groups of 32 quads in turns, blocks in y 32 filters each. Transform{}(d) turns
// 4 x 4 pixels into the factors of m.
template <class Transform, bool kPairs>
__global__ void __launch_bounds__(kThreads, 1)
    conv2d_quads(const float* x, const float* f, float* y, ConvLayer layer, int quads) {
  extern __shared__ float4 memory[];
  Shared& shared = *reinterpret_cast<Shared*>(memory);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int first_filter = blockIdx.y * kFilters, turn = gridDim.x * kQuads;
  transform_filters(shared, f, layer, first_filter);
  float d[4][4];
  load_pixels(d, x, layer, blockIdx.x * kQuads + lane, quads);
  for (int first = blockIdx.x * kQuads; first < quads; first += turn) {
    Transform{}(d);
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      shared.pixels[part][warp][lane] = d[part / 4][part % 4];
    }
    __syncthreads();  // closes write against read: other warps have transformed what is multiplied
    float m[4][8] = {};
    multiply(shared, m);
    __syncthreads();  // closes read against write: sums lie where the pixels are
    store_sums(shared, m);
    if (first + turn < quads) load_pixels(d, x, layer, first + turn + lane, quads);  // meanwhile
    __syncthreads();  // closes write against read: each warp has made one part
    write_outputs<kPairs>(shared, y, layer, first, quads, first_filter);
    __syncthreads();  // closes read against write: the next pixels lie where the sums are
  }
}

// Layers for which this kernel is right, and faster than tiles of an implicit matrix product.
inline bool are_best_for(const ConvLayer& layer) {
  return layer.r == 3 && layer.s == 3 && layer.c > kChannels / 2 && layer.c <= kChannels;
}

template <class Transform>
void launch(const float* d_x, const float* d_f, float* d_y, const ConvLayer& layer) {
  const int quads = count_of(layer), groups = (quads + kQuads - 1) / kQuads;
  if (quads == 0) return;
  const auto kernel =
      layer.q() % 2 == 0 ? conv2d_quads<Transform, true> : conv2d_quads<Transform, false>;
  int device = 0, multiprocessors = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Shared));
  // As many turns as with a block on every multiprocessor, shared out evenly.
  const int turns = (groups + multiprocessors - 1) / multiprocessors;
  const dim3 grid((groups + turns - 1) / turns, (layer.k + kFilters - 1) / kFilters);
  kernel<<<grid, kThreads, sizeof(Shared)>>>(d_x, d_f, d_y, layer, quads);
}

}  // namespace quads

#endif  // CHAPTERS_08_FFT_CONVOLUTION_11_CONV2D_IMPLICIT_GEMM_SUPPORT_H_
