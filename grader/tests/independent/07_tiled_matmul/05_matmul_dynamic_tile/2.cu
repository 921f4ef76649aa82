// Design: template width, one element per thread, fully unrolled
#include <algorithm>
#include <type_traits>

#include "05_matmul_dynamic_tile.h"

int tile_width(int m, int n, int threads, int shared_bytes) {
  int width = 32;
  while (width > 8 && (width * width > threads ||
                       2 * width * width * static_cast<int>(sizeof(float)) > shared_bytes ||
                       width / 2 >= std::min(m, n))) {
    width /= 2;
  }
  return width;
}

namespace {

constexpr int kEach = 1;  // rows of c per thread

template <int kWidth>
__global__ void __launch_bounds__(kWidth* kWidth / kEach)
    matmul_tile(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m,
                int n, int k) {
  constexpr int kHigh = kWidth / kEach;  // threads along y
  __shared__ float tile_a[kWidth][kWidth + 0];  // [row of c][step of k]
  __shared__ float tile_b[kWidth][kWidth];      // [step of k][column of c]
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int first_row = blockIdx.y * kWidth, col = blockIdx.x * kWidth + tx;
  float sums[kEach] = {};
  for (int first = 0; first < k; first += kWidth) {
#pragma unroll
    for (int r = 0; r < kEach; ++r) {
      const int at = ty + kHigh * r;
      tile_a[at][tx] = first_row + at < m && first + tx < k
                           ? a[static_cast<size_t>(first_row + at) * k + first + tx] : 0.0f;
      tile_b[at][tx] =
          first + at < k && col < n ? b[static_cast<size_t>(first + at) * n + col] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      const float y = tile_b[i][tx];
#pragma unroll
      for (int r = 0; r < kEach; ++r) sums[r] += tile_a[ty + kHigh * r][i] * y;
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < kEach; ++r) {
    const int row = first_row + ty + kHigh * r;
    if (row < m && col < n) c[static_cast<size_t>(row) * n + col] = sums[r];
  }
}

template <class F>
void with_constant(int width, const F& f) {
  if (width == 8) {
    f(std::integral_constant<int, 8>());
  } else if (width == 16) {
    f(std::integral_constant<int, 16>());
  } else {
    f(std::integral_constant<int, 32>());
  }
}

}  // namespace

void launch_matmul_dynamic_tile(const float* d_a, const float* d_b, float* d_c, int m, int n,
                                int k) {
  if (m == 0 || n == 0) return;
  int device = 0, threads = 0, shared_bytes = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerBlock, device);
  cudaDeviceGetAttribute(&shared_bytes, cudaDevAttrMaxSharedMemoryPerBlock, device);
  const int width = tile_width(m, n, threads, shared_bytes);
  const int most_rows = 65535 * width;
  for (int first = 0; first < m; first += most_rows) {
    const int rows = std::min(m - first, most_rows);
    const float* const a = d_a + static_cast<size_t>(first) * k;
    float* const c = d_c + static_cast<size_t>(first) * n;
    const dim3 grid((n + width - 1) / width, (rows + width - 1) / width);
    with_constant(width, [&](auto constant) {
      constexpr int kWidth = decltype(constant)::value;
      matmul_tile<kWidth><<<grid, dim3(kWidth, kWidth / kEach)>>>(a, d_b, c, rows, n, k);
    });
  }
}
