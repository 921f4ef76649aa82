// three stages with the primitives of cuda_pipeline_primitives.h (__pipeline_memcpy_async with zfill), two steps ahead for b, one for a; 64 x 128 tiles, 128 threads
#include "10_matmul_async_copy.h"

#include <cuda_pipeline_primitives.h>

#include "support.h"

namespace {

constexpr int kHigh = 64, kWide = 128, kStep = 16, kThreads = 128, kPitch = kHigh + 4;

template <Edges kEdges>
__global__ void __launch_bounds__(kThreads)
    product(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m,
            int n, int k) {
  __shared__ __align__(16) float of_a[2][kStep][kPitch];
  __shared__ __align__(16) float of_b[3][kStep][kWide];
  const int t = threadIdx.x, top = blockIdx.y * kHigh, left = blockIdx.x * kWide;
  const int row = t / 16 * 4, col = t % 16 * 4;
  const int steps = (k + kStep - 1) / kStep;
  const auto copy_b = [&](int step) {
    if (step < steps) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int i = t / 32 + 4 * j, s = t % 32 * 4, row_b = step * kStep + i;
        float* const to = &of_b[step % 3][i][s];
        const float* const from = b + static_cast<size_t>(row_b) * n + left + s;
        if (kEdges != Edges::kScalars) {
          const bool inside = row_b < k && left + s < n;
          __pipeline_memcpy_async(to, inside ? from : b, 16, inside ? 0 : 16);
        } else {
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            const bool inside = row_b < k && left + s + e < n;
            __pipeline_memcpy_async(to + e, inside ? from + e : b, 4, inside ? 0 : 4);
          }
        }
      }
    }
    __pipeline_commit();  // also an empty one
  };
  float4 held[2];
  const auto load_a = [&](int step) {
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      held[j] = load4<kEdges>(a, top + t / 4 + 32 * j, step * kStep + t % 4 * 4, m, k);
    }
  };
  const auto store_a = [&](int step) {
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      float* const to = &of_a[step % 2][t % 4 * 4][t / 4 + 32 * j];
      to[0] = held[j].x, to[kPitch] = held[j].y, to[2 * kPitch] = held[j].z, to[3 * kPitch] = held[j].w;
    }
  };
  float sums[8][8] = {};
  copy_b(0);
  copy_b(1);
  if (steps > 0) {
    load_a(0);
    store_a(0);
  }
  for (int step = 0; step < steps; ++step) {
    __pipeline_wait_prior(1);  // the copies of this step are there, those of the next may be not
    __syncthreads();
    copy_b(step + 2);  // where step - 1 was read, which everybody has left
    if (step + 1 < steps) load_a(step + 1);
#pragma unroll 8
    for (int i = 0; i < kStep; ++i) {
      const float4 x0 = four(&of_a[step % 2][i][row]), x1 = four(&of_a[step % 2][i][row + 32]);
      const float4 y0 = four(&of_b[step % 3][i][col]), y1 = four(&of_b[step % 3][i][col + 64]);
      const float p[8] = {x0.x, x0.y, x0.z, x0.w, x1.x, x1.y, x1.z, x1.w};
      const float q[8] = {y0.x, y0.y, y0.z, y0.w, y1.x, y1.y, y1.z, y1.w};
#pragma unroll
      for (int r = 0; r < 8; ++r) {
#pragma unroll
        for (int s = 0; s < 8; ++s) sums[r][s] = fmaf(p[r], q[s], sums[r][s]);
      }
    }
    if (step + 1 < steps) store_a(step + 1);
  }
#pragma unroll
  for (int r = 0; r < 8; ++r) {
    const int at = top + row + r % 4 + r / 4 * 32;
    store4<kEdges>(c, make_float4(sums[r][0], sums[r][1], sums[r][2], sums[r][3]), at, left + col, m, n);
    store4<kEdges>(c, make_float4(sums[r][4], sums[r][5], sums[r][6], sums[r][7]), at, left + col + 64, m, n);
  }
}

}  // namespace

void launch_matmul_async_copy(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  if (m == 0 || n == 0) return;
  const bool scalars = edges_of(d_a, d_b, d_c, m, n, k, kHigh, kWide, kStep) == Edges::kScalars;
  const auto kernel = scalars ? product<Edges::kScalars> : product<Edges::kVectors>;
  kernel<<<dim3((n + kWide - 1) / kWide, (m + kHigh - 1) / kHigh), kThreads>>>(d_a, d_b, d_c, m, n, k);
}
