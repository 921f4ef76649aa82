// Accepted: 16 steps of k from barrier to barrier, two float4 of each tile per thread.
#include "08_matmul_vectorized.h"
#include "support.h"

template <Edges kEdges>
__global__ void __launch_bounds__(256)
    matmul_sixteen_steps(const float* __restrict__ a, const float* __restrict__ b,
                         float* __restrict__ c, int m, int n, int k) {
  __shared__ __align__(16) float of_a[16][132], of_b[16][128];
  const int t = threadIdx.x, x = t % 16, y = t / 16;
  const int top = blockIdx.y * 128, left = blockIdx.x * 128;
  float sums[8][8] = {};
  for (int first = 0; first < k; first += 16) {
#pragma unroll
    for (int e = t; e < 512; e += 256) {
      const int row = e / 4, i = e % 4 * 4, j = e / 32, col = e % 32 * 4;
      const float4 v = load4<kEdges>(a + static_cast<size_t>(top + row) * k + first + i,
                                     m - top - row, k - first - i);
      of_a[i][row] = v.x, of_a[i + 1][row] = v.y, of_a[i + 2][row] = v.z, of_a[i + 3][row] = v.w;
      *reinterpret_cast<float4*>(&of_b[j][col]) = load4<kEdges>(
          b + static_cast<size_t>(first + j) * n + left + col, k - first - j, n - left - col);
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      float4 u[2], v[2];
      for (int h = 0; h < 2; ++h) {
        u[h] = *reinterpret_cast<const float4*>(&of_a[i][4 * y + 64 * h]);
        v[h] = *reinterpret_cast<const float4*>(&of_b[i][4 * x + 64 * h]);
      }
      const float* p = reinterpret_cast<const float*>(u);
      const float* q = reinterpret_cast<const float*>(v);
#pragma unroll
      for (int r = 0; r < 8; ++r) {
#pragma unroll
        for (int s = 0; s < 8; ++s) sums[r][s] = fmaf(p[r], q[s], sums[r][s]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < 8; ++r) {
    const int row = top + 4 * y + r / 4 * 64 + r % 4;
#pragma unroll
    for (int h = 0; h < 8; h += 4) {
      const int col = left + 4 * x + h * 16;
      store4<kEdges>(c + static_cast<size_t>(row) * n + col,
                     make_float4(sums[r][h], sums[r][h + 1], sums[r][h + 2], sums[r][h + 3]),
                     m - row, n - col);
    }
  }
}

void launch_matmul_vectorized(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  const dim3 grid((n + 127) / 128, (m + 127) / 128);
  if (m == 0 || n == 0) return;
  const Edges edges = edges_of(d_a, d_b, d_c, m, n, k, 128, 128, 16);
  const auto kernel = edges == Edges::kWhole     ? matmul_sixteen_steps<Edges::kWhole>
                      : edges == Edges::kVectors ? matmul_sixteen_steps<Edges::kVectors>
                                                 : matmul_sixteen_steps<Edges::kScalars>;
  kernel<<<grid, 256>>>(d_a, d_b, d_c, m, n, k);
}
