// Accepted: loads single words, and a step stores at its end what it has loaded at its beginning.
#include "09_matmul_double_buffer.h"
#include "support.h"

constexpr int kSide = 128, kDepth = 16, kEach = kSide * kDepth / 256;

struct Shares {
  static constexpr int kRows = 8, kCols = 8, kLanesX = 16, kLanesY = 16;
};

__global__ void __launch_bounds__(256)
    matmul_word_by_word(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ __align__(16) float of_a[2][kDepth][kSide + 4], of_b[2][kDepth][kSide];
  const int t = threadIdx.x, top = blockIdx.y * kSide, left = blockIdx.x * kSide;
  const int row = t / 16 * 4, col = t % 16 * 4;
  float sums[8][8] = {};
  for (int first = -kDepth, now = 1; first < k; first += kDepth, now ^= 1) {
    const int next = first + kDepth;
    float x[kEach], y[kEach];
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      const int e = t + 256 * j, r = top + e / kDepth, i = next + e % kDepth;
      const int below = next + e / kSide, s = left + e % kSide;
      x[j] = r < m && i < k ? a[static_cast<size_t>(r) * k + i] : 0.0f;
      y[j] = below < k && s < n ? b[static_cast<size_t>(below) * n + s] : 0.0f;
    }
#pragma unroll 4
    for (int i = 0; i < kDepth && first >= 0; ++i) {
      Groups<Shares> f;
      f.load(&of_a[now][i][row], &of_b[now][i][col]);
      f.multiply(sums);
    }
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      const int e = t + 256 * j;
      of_a[now ^ 1][e % kDepth][e / kDepth] = x[j];
      of_b[now ^ 1][e / kSide][e % kSide] = y[j];
    }
    __syncthreads();
  }
  store_groups<Edges::kScalars, Shares>(sums, c, top + row, left + col, m, n);
}

void launch_matmul_double_buffer(const float* d_a, const float* d_b, float* d_c, int m, int n,
                                 int k) {
  if (m == 0 || n == 0) return;
  const dim3 grid((n + kSide - 1) / kSide, (m + kSide - 1) / kSide);
  matmul_word_by_word<<<grid, 256>>>(d_a, d_b, d_c, m, n, k);
}
