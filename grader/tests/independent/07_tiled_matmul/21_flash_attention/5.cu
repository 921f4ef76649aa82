// Design: four lanes per query, 16 dimensions each, dot products joined by two shuffles, 64 keys in shared
#include <algorithm>
#include <cfloat>

#include "21_flash_attention.h"
#include "support.h"

namespace {

constexpr int kThreads = 256, kLanes = 4, kBlockQueries = kThreads / kLanes;
constexpr int kKeys = 64, kQuads = kDim / 4, kOwn = kQuads / kLanes;
constexpr float kScale = 0.125f * 1.44269504f;  // 1 / sqrt(64), and exp2 in the place of exp

__global__ void __launch_bounds__(kThreads)
    four_lanes_per_query(const float* __restrict__ q, const float* __restrict__ k,
                         const float* __restrict__ v, float* __restrict__ out, int queries,
                         int keys) {
  __shared__ float4 tile_k[kKeys][kQuads], tile_v[kKeys][kQuads];
  const size_t head = blockIdx.y;
  q += head * queries * kDim, out += head * queries * kDim;
  k += head * keys * kDim, v += head * keys * kDim;
  const int part = threadIdx.x % kLanes;
  const int query = blockIdx.x * kBlockQueries + threadIdx.x / kLanes;
  const float* const row = q + static_cast<size_t>(min(query, queries - 1)) * kDim;
  float4 mine[kOwn], sums[kOwn];  // quads part, part + 4, ...
#pragma unroll
  for (int i = 0; i < kOwn; ++i) {
    mine[i] = four(row + 4 * (part + kLanes * i));
    sums[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  }
  float greatest = -FLT_MAX, total = 0.0f;
  for (int first = 0; first < keys; first += kKeys) {
    const int count = min(kKeys, keys - first);
    __syncthreads();
    for (int e = threadIdx.x; e < count * kQuads; e += kThreads) {
      const size_t at = static_cast<size_t>(first) * kDim + 4 * e;
      tile_k[e / kQuads][e % kQuads] = four(k + at);
      tile_v[e / kQuads][e % kQuads] = four(v + at);
    }
    __syncthreads();
#pragma unroll 4
    for (int j = 0; j < count; ++j) {
      float score = 0.0f;
#pragma unroll
      for (int i = 0; i < kOwn; ++i) {
        const float4 key = tile_k[j][part + kLanes * i];
        score += mine[i].x * key.x + mine[i].y * key.y + mine[i].z * key.z + mine[i].w * key.w;
      }
      score += __shfl_xor_sync(0xFFFFFFFFu, score, 1);
      score += __shfl_xor_sync(0xFFFFFFFFu, score, 2);
      score *= kScale;
      const float now = fmaxf(greatest, score);
      const float factor = exp2f(greatest - now), weight = exp2f(score - now);
      greatest = now;
      total = total * factor + weight;
#pragma unroll
      for (int i = 0; i < kOwn; ++i) {
        const float4 value = tile_v[j][part + kLanes * i];
        sums[i].x = sums[i].x * factor + weight * value.x;
        sums[i].y = sums[i].y * factor + weight * value.y;
        sums[i].z = sums[i].z * factor + weight * value.z;
        sums[i].w = sums[i].w * factor + weight * value.w;
      }
    }
  }
  if (query >= queries) return;
  float* const to = out + static_cast<size_t>(query) * kDim;
#pragma unroll
  for (int i = 0; i < kOwn; ++i) {
    four(to + 4 * (part + kLanes * i)) = make_float4(sums[i].x / total, sums[i].y / total,
                                                     sums[i].z / total, sums[i].w / total);
  }
}

}  // namespace

void launch_flash_attention(const float* d_q, const float* d_k, const float* d_v, float* d_out,
                            int heads, int queries, int keys) {
  if (heads == 0 || queries == 0) return;
  const dim3 grid((queries + kBlockQueries - 1) / kBlockQueries, heads);
  four_lanes_per_query<<<grid, kThreads>>>(d_q, d_k, d_v, d_out, queries, keys);
}
