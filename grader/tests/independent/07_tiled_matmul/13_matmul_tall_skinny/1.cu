// Design: a thread per row of c, rows of a read straight from global memory (strided), b in shared
#include "13_matmul_tall_skinny.h"
#include "13_matmul_tall_skinny_support.h"

namespace {

constexpr int kCols = 10, kThreads = 128, kStep = 64;

__global__ void __launch_bounds__(kThreads)
    row_per_thread(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                   int m, int n, int k, int groups) {
  __shared__ float part[kStep][kCols];
  const int row = static_cast<int>(blockIdx.x) / groups * kThreads + threadIdx.x;
  const int col = static_cast<int>(blockIdx.x) % groups * kCols;
  const float* const from = a + static_cast<size_t>(min(row, m - 1)) * k;
  float sums[kCols] = {};
  for (int first = 0; first < k; first += kStep) {
    __syncthreads();
    for (int e = threadIdx.x; e < kStep * kCols; e += kThreads) {
      const int i = first + e / kCols, j = col + e % kCols;
      part[e / kCols][e % kCols] = i < k && j < n ? b[static_cast<size_t>(i) * n + j] : 0.0f;
    }
    __syncthreads();
    const int count = min(kStep, k - first);
    for (int i = 0; i < count; ++i) {
      const float x = from[first + i];
#pragma unroll
      for (int j = 0; j < kCols; ++j) sums[j] += x * part[i][j];
    }
  }
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
  row_per_thread<<<groups * blocks, kThreads>>>(d_a, d_b, d_c, m, n, k, groups);
}
