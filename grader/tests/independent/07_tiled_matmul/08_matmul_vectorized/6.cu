// tiles of 64 x 256 by 256 threads, steps of 8, a warp of 8 x 4 lanes, a turned in registers by 4 x 4 blocks with a swizzle in place of a pad
#include "08_matmul_vectorized.h"
#include "support.h"

namespace {

constexpr int kHigh = 64, kWide = 256, kDeep = 8, kThreads = 256;

// Where row `r` (a multiple of 4) of step `i` lies: groups of four rows change places with i / 4.
__device__ __forceinline__ int turned(int i, int r) { return i * kHigh + (r ^ (i / 4 * 4)); }

template <Edges kEdges>
__global__ void __launch_bounds__(kThreads, 2)
    product(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m,
            int n, int k) {
  __shared__ __align__(16) float of_a[kDeep * kHigh], of_b[kDeep * kWide];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  const int top = blockIdx.y * kHigh, left = blockIdx.x * kWide;
  // Warps stand 4 wide and 2 high, their lanes 8 wide and 4 high.
  const int row = warp / 4 * 32 + lane / 8 * 4, col = warp % 4 * 64 + lane % 8 * 4;
  float sums[8][8] = {};
  for (int first = 0; first < k; first += kDeep) {
    if (t < kHigh * kDeep / 4) {  // whole warps
      const int r = t / 2, i = t % 2 * 4;
      const float4 v = load4<kEdges>(a, top + r, first + i, m, k);
      const int place = turned(i, r / 4 * 4) + r % 4;
      of_a[place] = v.x, of_a[place + kHigh] = v.y;
      of_a[place + 2 * kHigh] = v.z, of_a[place + 3 * kHigh] = v.w;
    }
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      const int i = t / 64 + 4 * j, s = t % 64 * 4;
      four(&of_b[i * kWide + s]) = load4<kEdges>(b, first + i, left + s, k, n);
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kDeep; ++i) {
      const float4 x0 = four(&of_a[turned(i, row)]), x1 = four(&of_a[turned(i, row + 16)]);
      const float4 y0 = four(&of_b[i * kWide + col]), y1 = four(&of_b[i * kWide + col + 32]);
      const float x[8] = {x0.x, x0.y, x0.z, x0.w, x1.x, x1.y, x1.z, x1.w};
      const float y[8] = {y0.x, y0.y, y0.z, y0.w, y1.x, y1.y, y1.z, y1.w};
#pragma unroll
      for (int r = 0; r < 8; ++r) {
#pragma unroll
        for (int s = 0; s < 8; ++s) sums[r][s] = fmaf(x[r], y[s], sums[r][s]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < 8; ++r) {
    const int at = top + row + (r < 4 ? r : r + 12);
    store4<kEdges>(c, make_float4(sums[r][0], sums[r][1], sums[r][2], sums[r][3]), at, left + col, m, n);
    store4<kEdges>(c, make_float4(sums[r][4], sums[r][5], sums[r][6], sums[r][7]), at, left + col + 32, m, n);
  }
}

}  // namespace

void launch_matmul_vectorized(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  const dim3 grid((n + kWide - 1) / kWide, (m + kHigh - 1) / kHigh);
  if (grid.x == 0 || grid.y == 0) return;
  switch (edges_of(d_a, d_b, d_c, m, n, k, kHigh, kWide, kDeep)) {
    case Edges::kWhole:
      product<Edges::kWhole><<<grid, kThreads>>>(d_a, d_b, d_c, m, n, k);
      break;
    case Edges::kVectors:
      product<Edges::kVectors><<<grid, kThreads>>>(d_a, d_b, d_c, m, n, k);
      break;
    default:
      product<Edges::kScalars><<<grid, kThreads>>>(d_a, d_b, d_c, m, n, k);
  }
}
