// Design: a thread per query with query and sums in registers, 32 keys and values in shared memory
#include <algorithm>
#include <cfloat>

#include "21_flash_attention.h"
#include "support.h"

namespace {

constexpr int kThreads = 128, kKeys = 32, kQuads = kDim / 4;
constexpr float kScale = 0.125f * 1.44269504f;  // 1 / sqrt(64), and exp2 in the place of exp

__global__ void __launch_bounds__(kThreads)
    query_per_thread(const float* __restrict__ q, const float* __restrict__ k,
                     const float* __restrict__ v, float* __restrict__ out, int queries, int keys) {
  __shared__ float4 tile_k[kKeys][kQuads], tile_v[kKeys][kQuads];
  const size_t head = blockIdx.y;
  q += head * queries * kDim, out += head * queries * kDim;
  k += head * keys * kDim, v += head * keys * kDim;
  const int query = blockIdx.x * kThreads + threadIdx.x;
  const float* const row = q + static_cast<size_t>(min(query, queries - 1)) * kDim;
  float4 mine[kQuads], sums[kQuads];
#pragma unroll
  for (int i = 0; i < kQuads; ++i) {
    mine[i] = four(row + 4 * i);
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
    for (int j = 0; j < count; ++j) {
      float part[4] = {};
#pragma unroll
      for (int i = 0; i < kQuads; ++i) {
        const float4 key = tile_k[j][i];
        part[0] += mine[i].x * key.x, part[1] += mine[i].y * key.y;
        part[2] += mine[i].z * key.z, part[3] += mine[i].w * key.w;
      }
      const float score = kScale * (part[0] + part[1] + part[2] + part[3]);
      if (score > greatest) {
        const float factor = exp2f(greatest - score);
        total *= factor;
#pragma unroll
        for (int i = 0; i < kQuads; ++i) {
          sums[i].x *= factor, sums[i].y *= factor, sums[i].z *= factor, sums[i].w *= factor;
        }
        greatest = score;
      }
      const float weight = exp2f(score - greatest);
      total += weight;
#pragma unroll
      for (int i = 0; i < kQuads; ++i) {
        const float4 value = tile_v[j][i];
        sums[i].x += weight * value.x, sums[i].y += weight * value.y;
        sums[i].z += weight * value.z, sums[i].w += weight * value.w;
      }
    }
  }
  if (query >= queries) return;
  float* const to = out + static_cast<size_t>(query) * kDim;
#pragma unroll
  for (int i = 0; i < kQuads; ++i) {
    four(to + 4 * i) = make_float4(sums[i].x / total, sums[i].y / total, sums[i].z / total,
                                   sums[i].w / total);
  }
}

}  // namespace

void launch_flash_attention(const float* d_q, const float* d_k, const float* d_v, float* d_out,
                            int heads, int queries, int keys) {
  if (heads == 0 || queries == 0) return;
  const dim3 grid((queries + kThreads - 1) / kThreads, heads);
  query_per_thread<<<grid, kThreads>>>(d_q, d_k, d_v, d_out, queries, keys);
}
