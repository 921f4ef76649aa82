// tiles of 64 x 128 with 128 threads of 8 x 8, steps of 8, a transposed and padded tile of a, shares in two halves of four, written as one template with a functor for bounds
#include "07_matmul_2d_tile.h"

namespace {

template <int kHigh, int kWide, int kDeep, int kEach>
struct Product {
  static constexpr int kLanesX = kWide / kEach, kLanesY = kHigh / kEach;
  static constexpr int kThreads = kLanesX * kLanesY;
  static constexpr int kPitch = kHigh + 1;

  static __device__ float at(const float* x, int row, int col, int rows, int cols) {
    return row < rows && col < cols ? __ldg(x + static_cast<size_t>(row) * cols + col) : 0.0f;
  }

  static __device__ void run(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float of_a[kDeep * kPitch], of_b[kDeep * kWide];
    const int t = threadIdx.x, x = t % kLanesX, y = t / kLanesX;
    const int top = blockIdx.y * kHigh, left = blockIdx.x * kWide;
    float sums[kEach][kEach] = {};
    const int steps = (k + kDeep - 1) / kDeep;
    for (int step = 0; step < steps; ++step) {
      const int first = step * kDeep;
      if (step > 0) __syncthreads();
#pragma unroll
      for (int e = 0; e < kHigh * kDeep; e += kThreads) {
        const int r = (e + t) / kDeep, i = (e + t) % kDeep;
        of_a[i * kPitch + r] = at(a, top + r, first + i, m, k);
      }
#pragma unroll
      for (int e = 0; e < kWide * kDeep; e += kThreads) {
        const int i = (e + t) / kWide, s = (e + t) % kWide;
        of_b[i * kWide + s] = at(b, first + i, left + s, k, n);
      }
      __syncthreads();
#pragma unroll
      for (int i = 0; i < kDeep; ++i) {
        float p[kEach], q[kEach];
#pragma unroll
        for (int j = 0; j < kEach; ++j) p[j] = of_a[i * kPitch + y + kLanesY * j];
#pragma unroll
        for (int j = 0; j < kEach; ++j) q[j] = of_b[i * kWide + x + kLanesX * j];
#pragma unroll
        for (int j = 0; j < kEach * kEach; ++j) {
          sums[j / kEach][j % kEach] = fmaf(p[j / kEach], q[j % kEach], sums[j / kEach][j % kEach]);
        }
      }
    }
#pragma unroll
    for (int j = 0; j < kEach * kEach; ++j) {
      const int row = top + y + kLanesY * (j / kEach), col = left + x + kLanesX * (j % kEach);
      if (row < m && col < n) c[static_cast<size_t>(row) * n + col] = sums[j / kEach][j % kEach];
    }
  }
};

using P = Product<64, 128, 8, 8>;

__global__ void __launch_bounds__(P::kThreads)
    product(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m,
            int n, int k) {
  P::run(a, b, c, m, n, k);
}

}  // namespace

void launch_matmul_2d_tile(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  if (m == 0 || n == 0) return;
  product<<<dim3((n + 127) / 128, (m + 63) / 64), P::kThreads>>>(d_a, d_b, d_c, m, n, k);
}
