// Accepted: 128 x 128, contiguous eight by eight, steps of 8, nothing ahead.
#include <cstdint>

#include "08_matmul_vectorized.h"

namespace {

// Four neighbours of a row; zeros where there are none.
__device__ float4 four(const float* x, int row, int col, int rows, int cols, bool aligned) {
  if (row >= rows || col >= cols) return make_float4(0, 0, 0, 0);
  const float* at = x + (size_t)row * cols + col;
  if (aligned) return *reinterpret_cast<const float4*>(at);
  return make_float4(at[0], col + 1 < cols ? at[1] : 0, col + 2 < cols ? at[2] : 0,
                     col + 3 < cols ? at[3] : 0);
}

__global__ void __launch_bounds__(256) matmul_in_blocks(const float* a, const float* b, float* c,
                                                        int m, int n, int k, bool al_a, bool al_b) {
  __shared__ __align__(16) float as[8][128 + 4];
  __shared__ __align__(16) float bs[8][128];
  const int t = threadIdx.x, tx = t % 16, ty = t / 16;
  const int row0 = blockIdx.y * 128, col0 = blockIdx.x * 128;
  float acc[8][8] = {};
  float4 ra[1], rb[1];
  auto fetch = [&](int base) {
#pragma unroll
    for (int l = 0; l < 1; ++l) {
      const int e = t + 256 * l;
      ra[l] = four(a, row0 + e / 2, base + e % 2 * 4, m, k, al_a);
    }
#pragma unroll
    for (int l = 0; l < 1; ++l) {
      const int e = t + 256 * l;
      rb[l] = four(b, base + e / 32, col0 + e % 32 * 4, k, n, al_b);
    }
  };
  auto put = [&] {
#pragma unroll
    for (int l = 0; l < 1; ++l) {
      const int e = t + 256 * l, r = e / 2, i = e % 2 * 4;
      as[i][r] = ra[l].x;
      as[i + 1][r] = ra[l].y;
      as[i + 2][r] = ra[l].z;
      as[i + 3][r] = ra[l].w;
    }
#pragma unroll
    for (int l = 0; l < 1; ++l) {
      const int e = t + 256 * l;
      *reinterpret_cast<float4*>(&bs[e / 32][e % 32 * 4]) = rb[l];
    }
  };
  for (int base = 0; base < k; base += 8) {
    fetch(base);
    put();
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      float u[8], v[8];
      *reinterpret_cast<float4*>(u) = *reinterpret_cast<const float4*>(&as[i][ty * 8]);
      *reinterpret_cast<float4*>(u + 4) = *reinterpret_cast<const float4*>(&as[i][ty * 8 + 4]);
      *reinterpret_cast<float4*>(v) = *reinterpret_cast<const float4*>(&bs[i][tx * 8]);
      *reinterpret_cast<float4*>(v + 4) = *reinterpret_cast<const float4*>(&bs[i][tx * 8 + 4]);
#pragma unroll
      for (int p = 0; p < 8; ++p) {
#pragma unroll
        for (int q = 0; q < 8; ++q) acc[p][q] += u[p] * v[q];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int p = 0; p < 8; ++p) {
#pragma unroll
    for (int q = 0; q < 8; ++q) {
      const int row = row0 + ty * 8 + p, col = col0 + tx * 8 + q;
      if (row < m && col < n) c[(size_t)row * n + col] = acc[p][q];
    }
  }
}

bool aligned(const float* x, int cols) {
  return cols % 4 == 0 && reinterpret_cast<uintptr_t>(x) % 16 == 0;
}

}  // namespace

void launch_matmul_vectorized(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  if (m == 0 || n == 0) return;
  matmul_in_blocks<<<dim3((n + 127) / 128, (m + 127) / 128), 256>>>(
      d_a, d_b, d_c, m, n, k, aligned(d_a, k), aligned(d_b, n));
}
