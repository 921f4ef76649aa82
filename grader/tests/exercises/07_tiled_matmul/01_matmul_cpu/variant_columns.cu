// Accepted: other orders of the loops, tiles that are stored transposed.
#include "01_matmul_cpu.h"

void matmul_loops(const float* a, const float* b, float* c, int m, int n, int k) {
  for (int e = 0; e < m * n; ++e) {
    c[e] = 0.0f;
    for (int i = 0; i < k; ++i) c[e] += a[e / n * k + i] * b[i * n + e % n];
  }
}

void matmul_rows(const float* a, const float* b, float* c, int m, int n, int k) {
  for (int e = 0; e < m * n; ++e) c[e] = 0.0f;
  for (int i = 0; i < k; ++i) {
    for (int row = 0; row < m; ++row) {
      for (int col = 0; col < n; ++col) c[row * n + col] += a[row * k + i] * b[i * n + col];
    }
  }
}

void matmul_blocks(const float* a, const float* b, float* c, int m, int n, int k,
                   const EachThread& each) {
  for (int left = 0; left < n; left += kTile) {
    for (int top = 0; top < m; top += kTile) {
      float of_a[kTile * kTile], of_b[kTile * kTile], sums[kTile * kTile];
      each([&](int x, int y) { sums[y * kTile + x] = 0.0f; });
      for (int first = 0; first < k; first += kTile) {
        each([&](int x, int y) {
          const bool in_a = top + y < m && first + x < k, in_b = first + x < k && left + y < n;
          of_a[x * kTile + y] = in_a ? a[(top + y) * k + first + x] : 0.0f;
          of_b[y * kTile + x] = in_b ? b[(first + x) * n + left + y] : 0.0f;
        });
        each([&](int x, int y) {
          for (int i = 0; i < kTile; ++i) {
            sums[y * kTile + x] += of_a[i * kTile + y] * of_b[x * kTile + i];
          }
        });
      }
      each([&](int x, int y) {
        if (top + y < m && left + x < n) c[(top + y) * n + left + x] = sums[y * kTile + x];
      });
    }
  }
}
