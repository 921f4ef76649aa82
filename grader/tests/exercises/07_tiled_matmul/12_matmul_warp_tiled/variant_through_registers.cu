// Accepted: tiles of 128 x 128, both loaded through registers, no cp.async, 48 KiB or less.
#include "12_matmul_warp_tiled.h"
#include "support.h"

constexpr int kSide = 128, kDepth = 8;

template <Edges kEdges>
__global__ void __launch_bounds__(256)
    matmul_through_registers(const float* __restrict__ a, const float* __restrict__ b,
                             float* __restrict__ c, int m, int n, int k) {
  __shared__ __align__(16) float of_a[2][kDepth][kSide + 4], of_b[2][kDepth][kSide];
  const int t = threadIdx.x, top = blockIdx.y * kSide, left = blockIdx.x * kSide;
  const int y = t / 128 * 64 + t / 8 % 4 * 4 + t / 32 % 2 * 32, x = t / 64 % 2 * 64 + t % 8 * 4;
  const int row = t / 2, i_a = t % 2 * 4, i_b = t / 32, col = t % 32 * 4;
  const float* from_a = a + static_cast<size_t>(top + row) * k + i_a;
  const float* from_b = b + static_cast<size_t>(i_b) * n + left + col;
  float sums[8][8] = {};
  for (int first = -kDepth, now = 1; first < k; first += kDepth, now ^= 1) {
    const int next = first + kDepth;
    const float4 u = load4<kEdges>(from_a + next, m - top - row, k - next - i_a);
    const float4 v =
        load4<kEdges>(from_b + static_cast<size_t>(next) * n, k - next - i_b, n - left - col);
    for (int i = 0; i < kDepth && first >= 0; ++i) {
      float4 p[2], q[2];
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        p[h] = *reinterpret_cast<const float4*>(&of_a[now][i][y + 16 * h]);
        q[h] = *reinterpret_cast<const float4*>(&of_b[now][i][x + 32 * h]);
      }
#pragma unroll
      for (int e = 0; e < 64; ++e) {
        sums[e / 8][e % 8] = fmaf(reinterpret_cast<const float*>(p)[e / 8],
                                  reinterpret_cast<const float*>(q)[e % 8], sums[e / 8][e % 8]);
      }
    }
    float* to = &of_a[now ^ 1][i_a][row];
    to[0] = u.x, to[kSide + 4] = u.y, to[2 * (kSide + 4)] = u.z, to[3 * (kSide + 4)] = u.w;
    *reinterpret_cast<float4*>(&of_b[now ^ 1][i_b][col]) = v;
    __syncthreads();
  }
#pragma unroll
  for (int e = 0; e < 64; e += 4) {
    const int r = top + y + e / 32 * 16 + e / 8 % 4, s = left + x + e % 8 * 8;
    const float* from = &sums[e / 8][e % 8];
    store4<kEdges>(c + static_cast<size_t>(r) * n + s,
                   make_float4(from[0], from[1], from[2], from[3]), m - r, n - s);
  }
}

void launch_matmul_warp_tiled(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  const dim3 grid((n + kSide - 1) / kSide, (m + kSide - 1) / kSide);
  if (m == 0 || n == 0) return;
  const Edges edges = edges_of(d_a, d_b, d_c, m, n, k, kSide, kSide, kDepth);
  const auto kernel = edges == Edges::kScalars ? matmul_through_registers<Edges::kScalars>
                                               : matmul_through_registers<Edges::kVectors>;
  kernel<<<grid, 256>>>(d_a, d_b, d_c, m, n, k);
}
