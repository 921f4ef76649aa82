// Design: 128 rows x 32 of k per stage by cp.async in 4 stages, a thread per row, float4 from shared
#include "13_matmul_tall_skinny.h"
#include "13_matmul_tall_skinny_support.h"

namespace {

constexpr int kCols = 12, kThreads = 128, kStep = 32, kStages = 4;

struct Stage {
  float a[kThreads][kStep + 4];
  float b[kStep][kCols];
};
constexpr int kBytes = kStages * sizeof(Stage);

template <Edges kEdges>
__global__ void __launch_bounds__(kThreads)
    ring_of_rows(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                 int m, int n, int k, int groups) {
  extern __shared__ float4 shared[];
  Stage* const ring = reinterpret_cast<Stage*>(shared);
  const int t = threadIdx.x;
  const int first_row = static_cast<int>(blockIdx.x) / groups * kThreads;
  const int col = static_cast<int>(blockIdx.x) % groups * kCols;
  const auto begin = [&](int step) {
    const int first = step * kStep;
    Stage& stage = ring[step % kStages];
    if (first < k) {
#pragma unroll
      for (int j = 0; j < kStep / 4; ++j) {
        const int e = t + j * kThreads, r = e / (kStep / 4), i = e % (kStep / 4) * 4;
        copy4_async<kEdges>(&stage.a[r][i], a + static_cast<size_t>(first_row + r) * k + first + i,
                            m - first_row - r, k - first - i);
      }
#pragma unroll
      for (int j = 0; j < kStep * kCols / kThreads; ++j) {
        const int e = t + j * kThreads, i = first + e / kCols, at = col + e % kCols;
        const bool inside = i < k && at < n;
        copy_or_zero_async<4>(&stage.b[e / kCols][e % kCols],
                              inside ? b + static_cast<size_t>(i) * n + at : b, inside);
      }
    }
    close_copy_group();  // also an empty one: groups are counted
  };
  for (int step = 0; step < kStages - 1; ++step) begin(step);
  float sums[kCols] = {};
  const int steps = (k + kStep - 1) / kStep;
  for (int step = 0; step < steps; ++step) {
    wait_for_copies<kStages - 2>();
    __syncthreads();
    begin(step + kStages - 1);
    const Stage& stage = ring[step % kStages];
#pragma unroll
    for (int i = 0; i < kStep; i += 4) {
      const float4 quad = four(&stage.a[t][i]);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float x = j == 0 ? quad.x : j == 1 ? quad.y : j == 2 ? quad.z : quad.w;
#pragma unroll
        for (int s = 0; s < kCols; s += 4) {
          const float4 y = four(&stage.b[i + j][s]);
          sums[s] += x * y.x, sums[s + 1] += x * y.y;
          sums[s + 2] += x * y.z, sums[s + 3] += x * y.w;
        }
      }
    }
  }
  wait_for_copies<0>();
  const int row = first_row + t;
  if (row >= m) return;
#pragma unroll
  for (int j = 0; j < kCols; ++j) {
    if (col + j < n) c[static_cast<size_t>(row) * n + col + j] = sums[j];
  }
}

}  // namespace

void launch_matmul_tall_skinny(const float* d_a, const float* d_b, float* d_c, int m, int n,
                               int k) {
  if (m == 0 || n == 0) return;
  const int groups = (n + kCols - 1) / kCols, blocks = (m + kThreads - 1) / kThreads;
  const bool aligned = k % 4 == 0 && reinterpret_cast<uintptr_t>(d_a) % 16 == 0;
  const auto kernel = aligned ? ring_of_rows<Edges::kVectors> : ring_of_rows<Edges::kScalars>;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  kernel<<<groups * blocks, kThreads, kBytes>>>(d_a, d_b, d_c, m, n, k, groups);
}
