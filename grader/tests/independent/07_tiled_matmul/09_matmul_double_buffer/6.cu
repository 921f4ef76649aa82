// 128 x 64 tiles with 128 threads of 8 x 8, the barrier stands behind the store of the next tiles, inside its if, and no Groups are used
#include "09_matmul_double_buffer.h"
#include "support.h"

namespace {

constexpr int kHigh = 128, kWide = 64, kStep = 16, kThreads = 128;
constexpr int kPitch = kHigh + 4;
constexpr int kLoadsA = kHigh * kStep / 4 / kThreads, kLoadsB = kWide * kStep / 4 / kThreads;

struct Tiles {
  float a[kStep][kPitch], b[kStep][kWide];
};

template <Edges kEdges>
__global__ void __launch_bounds__(kThreads)
    product(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m,
            int n, int k) {
  __shared__ __align__(16) Tiles tiles[2];
  const int t = threadIdx.x, top = blockIdx.y * kHigh, left = blockIdx.x * kWide;
  const int row = t / 8 * 4, col = t % 8 * 4;  // and 64 rows, 32 columns further
  float sums[8][8] = {};
  float4 of_a[kLoadsA], of_b[kLoadsB];
  const int steps = (k + kStep - 1) / kStep;
  const auto load = [&](int step) {
#pragma unroll
    for (int j = 0; j < kLoadsA; ++j) {
      of_a[j] = load4<kEdges>(a, top + t / 4 + 32 * j, step * kStep + t % 4 * 4, m, k);
    }
#pragma unroll
    for (int j = 0; j < kLoadsB; ++j) {
      of_b[j] = load4<kEdges>(b, step * kStep + t / 16 + 8 * j, left + t % 16 * 4, k, n);
    }
  };
  const auto store = [&](Tiles& to) {
#pragma unroll
    for (int j = 0; j < kLoadsA; ++j) {
      const int r = t / 4 + 32 * j, i = t % 4 * 4;
      to.a[i][r] = of_a[j].x, to.a[i + 1][r] = of_a[j].y;
      to.a[i + 2][r] = of_a[j].z, to.a[i + 3][r] = of_a[j].w;
    }
#pragma unroll
    for (int j = 0; j < kLoadsB; ++j) four(&to.b[t / 16 + 8 * j][t % 16 * 4]) = of_b[j];
  };
  if (steps > 0) {
    load(0);
    store(tiles[0]);
    __syncthreads();
  }
  for (int step = 0; step < steps; ++step) {
    const Tiles& now = tiles[step % 2];
    if (step + 1 < steps) load(step + 1);
#pragma unroll
    for (int i = 0; i < kStep; ++i) {
      const float4 x[2] = {four(&now.a[i][row]), four(&now.a[i][row + 64])};
      const float4 y[2] = {four(&now.b[i][col]), four(&now.b[i][col + 32])};
      const float p[8] = {x[0].x, x[0].y, x[0].z, x[0].w, x[1].x, x[1].y, x[1].z, x[1].w};
      const float q[8] = {y[0].x, y[0].y, y[0].z, y[0].w, y[1].x, y[1].y, y[1].z, y[1].w};
#pragma unroll
      for (int r = 0; r < 8; ++r) {
#pragma unroll
        for (int s = 0; s < 8; ++s) sums[r][s] = fmaf(p[r], q[s], sums[r][s]);
      }
    }
    if (step + 1 < steps) {
      store(tiles[(step + 1) % 2]);  // read last in the step before, which all have left
      __syncthreads();
    }
  }
#pragma unroll
  for (int r = 0; r < 8; ++r) {
    const int at = top + row + r % 4 + r / 4 * 64;
    store4<kEdges>(c, make_float4(sums[r][0], sums[r][1], sums[r][2], sums[r][3]), at, left + col, m, n);
    store4<kEdges>(c, make_float4(sums[r][4], sums[r][5], sums[r][6], sums[r][7]), at, left + col + 32, m, n);
  }
}

}  // namespace

void launch_matmul_double_buffer(const float* d_a, const float* d_b, float* d_c, int m, int n,
                                 int k) {
  if (m == 0 || n == 0) return;
  const bool scalars = edges_of(d_a, d_b, d_c, m, n, k, kHigh, kWide, kStep) == Edges::kScalars;
  const auto kernel = scalars ? product<Edges::kScalars> : product<Edges::kVectors>;
  kernel<<<dim3((n + kWide - 1) / kWide, (m + kHigh - 1) / kHigh), kThreads>>>(d_a, d_b, d_c, m, n, k);
}
