// Design: a warp makes 4 rows, lanes along k with float4 loads, columns of b in shared, sums shared out
#include "13_matmul_tall_skinny.h"
#include "13_matmul_tall_skinny_support.h"

namespace {

constexpr int kCols = 10, kRows = 4, kWarps = 8, kChunk = 1024;
constexpr int kSums = kRows * kCols, kBlockRows = kWarps * kRows;

template <Edges kEdges>
__global__ void __launch_bounds__(32 * kWarps)
    rows_of_warps(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                  int m, int n, int k, int groups, int row_blocks) {
  __shared__ __align__(16) float columns[kCols][kChunk];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  const int col = static_cast<int>(blockIdx.x) % groups * kCols;
  bool loaded = false;  // columns has all of b: only if k fits
  for (int base = static_cast<int>(blockIdx.x) / groups * kBlockRows; base < m;
       base += row_blocks * kBlockRows) {
    const int row = base + warp * kRows;
    float sums[kSums] = {};
    for (int first = 0; first < k; first += kChunk) {
      if (!loaded) {
        __syncthreads();
        for (int e = t; e < kCols * kChunk; e += 32 * kWarps) {
          const int i = first + e / kCols, j = col + e % kCols;
          columns[e % kCols][e / kCols] = i < k && j < n ? b[static_cast<size_t>(i) * n + j] : 0.0f;
        }
        __syncthreads();
        loaded = k <= kChunk;
      }
      const int quads = (min(kChunk, k - first) + 3) / 4;
#pragma unroll 2
      for (int q = lane; q < quads; q += 32) {
        float4 x[kRows];
#pragma unroll
        for (int r = 0; r < kRows; ++r) x[r] = load4<kEdges>(a, row + r, first + 4 * q, m, k);
#pragma unroll
        for (int j = 0; j < kCols; ++j) {
          const float4 y = four(&columns[j][4 * q]);
#pragma unroll
          for (int r = 0; r < kRows; ++r) {
            sums[r * kCols + j] += x[r].x * y.x + x[r].y * y.y + x[r].z * y.z + x[r].w * y.w;
          }
        }
      }
    }
    int from = 0, last = kSums;
    share_out_sums<kSums, 16>(sums, lane, from, last);
#pragma unroll
    for (int j = 0; j < sums_left<kSums, 16>(); ++j) {
      const int e = from + j, r = row + e / kCols, at = col + e % kCols;
      if (e < last && r < m && at < n) c[static_cast<size_t>(r) * n + at] = sums[j];
    }
  }
}

}  // namespace

void launch_matmul_tall_skinny(const float* d_a, const float* d_b, float* d_c, int m, int n,
                               int k) {
  if (m == 0 || n == 0) return;
  int device = 0, multiprocessors = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  const int groups = (n + kCols - 1) / kCols, needed = (m + kBlockRows - 1) / kBlockRows;
  const int most = 3 * multiprocessors, row_blocks = needed < most ? needed : most;
  const bool aligned = k % 4 == 0 && reinterpret_cast<uintptr_t>(d_a) % 16 == 0;
  const auto kernel = aligned ? rows_of_warps<Edges::kVectors> : rows_of_warps<Edges::kScalars>;
  kernel<<<groups * row_blocks, 32 * kWarps>>>(d_a, d_b, d_c, m, n, k, groups, row_blocks);
}
