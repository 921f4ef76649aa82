// Accepted: a thread has a query and its 64 sums in registers; keys and values come from shared
// memory, the same for all lanes, eight keys at a time.
#include "21_flash_attention.h"

constexpr int kThreads = 128, kStep = 32, kPart = 8;

__device__ float dot(float4 a, float4 b, float sum) {
  return sum + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

__device__ void add_scaled(float4& sum, float factor, float weight, float4 v) {
  sum.x = sum.x * factor + weight * v.x;
  sum.y = sum.y * factor + weight * v.y;
  sum.z = sum.z * factor + weight * v.z;
  sum.w = sum.w * factor + weight * v.w;
}

__global__ void __launch_bounds__(kThreads)
    attend(const float4* __restrict__ q, const float4* __restrict__ k, const float4* __restrict__ v,
           float4* __restrict__ out, int queries, int keys) {
  __shared__ float4 tile_k[kStep][16], tile_v[kStep][16];
  const int query = blockIdx.x * kThreads + threadIdx.x;
  const size_t head = blockIdx.y;
  const float4 none = make_float4(0, 0, 0, 0);
  float4 mine[16], sums[16];
  for (int i = 0; i < 16; ++i) {
    mine[i] = query < queries ? q[(head * queries + query) * 16 + i] : none;
    sums[i] = none;
  }
  float greatest = -INFINITY, total = 0.0f;
  for (int first = 0; first < keys; first += kStep) {
    __syncthreads();
    for (int e = threadIdx.x; e < kStep * 16; e += kThreads) {
      const bool inside = first + e / 16 < keys;
      tile_k[e / 16][e % 16] = inside ? k[(head * keys + first) * 16 + e] : none;
      tile_v[e / 16][e % 16] = inside ? v[(head * keys + first) * 16 + e] : none;
    }
    __syncthreads();
    for (int part = 0; part < kStep && first + part < keys; part += kPart) {
      float score[kPart] = {}, next = greatest;
#pragma unroll
      for (int i = 0; i < 16; ++i) {
#pragma unroll
        for (int j = 0; j < kPart; ++j) score[j] = dot(mine[i], tile_k[part + j][i], score[j]);
      }
#pragma unroll
      for (int j = 0; j < kPart; ++j) {
        score[j] = first + part + j < keys ? score[j] / 8 : -INFINITY;
        next = fmaxf(next, score[j]);
      }
      const float factor = expf(greatest - next);
      greatest = next;
      total *= factor;
#pragma unroll
      for (int j = 0; j < kPart; ++j) {
        score[j] = expf(score[j] - greatest);
        total += score[j];
#pragma unroll
        for (int i = 0; i < 16; ++i) {
          add_scaled(sums[i], j == 0 ? factor : 1.0f, score[j], tile_v[part + j][i]);
        }
      }
    }
  }
  if (query >= queries) return;
  for (int i = 0; i < 16; ++i) {
    out[(head * queries + query) * 16 + i] =
        make_float4(sums[i].x / total, sums[i].y / total, sums[i].z / total, sums[i].w / total);
  }
}

void launch_flash_attention(const float* d_q, const float* d_k, const float* d_v, float* d_out,
                            int heads, int queries, int keys) {
  const dim3 grid((queries + kThreads - 1) / kThreads, heads);
  if (heads == 0 || queries == 0) return;
  attend<<<grid, kThreads>>>(
      reinterpret_cast<const float4*>(d_q), reinterpret_cast<const float4*>(d_k),
      reinterpret_cast<const float4*>(d_v), reinterpret_cast<float4*>(d_out), queries, keys);
}
