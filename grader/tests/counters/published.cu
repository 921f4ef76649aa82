#include <cuda_runtime.h>

#include <cstdlib>

#include "published.h"

namespace {

__global__ void naive(const float* a, const float* b, float* c, int m, int n, int k) {
  const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
  c[row * n + col] = sum;
}

// As a library does it: 64 x 128 of c per block of 128 threads, 8 x 8 per thread, two stages of
// 8 of k, a transposed on its way into shared memory.
__global__ void __launch_bounds__(128, 4)
    library_like(const float* a, const float* b, float* c, int n, int k) {
  constexpr int kRows = 64, kCols = 128, kDepth = 8;
  __shared__ __align__(16) float tile_a[2][kDepth][kRows + 4];
  __shared__ __align__(16) float tile_b[2][kDepth][kCols];
  const int t = threadIdx.x, tx = t % 16, ty = t / 16;
  const float* a_block = a + (blockIdx.y * kRows + t / 2) * k + t % 2 * 4;
  const float* b_block = b + blockIdx.x * kCols + (t / 32) * n + t % 32 * 4;
  float sum[8][8] = {};
  float4 next_a, next_b[2];
  const auto load = [&](int at) {
    next_a = *reinterpret_cast<const float4*>(a_block + at);
    for (int i = 0; i < 2; ++i) {
      next_b[i] = *reinterpret_cast<const float4*>(b_block + (at + 4 * i) * n);
    }
  };
  const auto store = [&](int stage) {
    const float values[] = {next_a.x, next_a.y, next_a.z, next_a.w};
    for (int i = 0; i < 4; ++i) tile_a[stage][t % 2 * 4 + i][t / 2] = values[i];
    for (int i = 0; i < 2; ++i) {
      *reinterpret_cast<float4*>(&tile_b[stage][t / 32 + 4 * i][t % 32 * 4]) = next_b[i];
    }
  };
  load(0);
  store(0);
  __syncthreads();  // the first tiles are complete
  for (int at = 0, stage = 0; at < k; at += kDepth, stage ^= 1) {
    const bool more = at + kDepth < k;
    if (more) load(at + kDepth);
#pragma unroll
    for (int i = 0; i < kDepth; ++i) {
      float xs[8], ys[8];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        xs[j] = tile_a[stage][i][ty * 4 + j], xs[j + 4] = tile_a[stage][i][32 + ty * 4 + j];
        ys[j] = tile_b[stage][i][tx * 4 + j], ys[j + 4] = tile_b[stage][i][64 + tx * 4 + j];
      }
#pragma unroll
      for (int r = 0; r < 8; ++r) {
#pragma unroll
        for (int s = 0; s < 8; ++s) sum[r][s] += xs[r] * ys[s];
      }
    }
    if (more) store(stage ^ 1);
    __syncthreads();  // the next tiles are complete, and nobody reads these any more
  }
  for (int r = 0; r < 8; ++r) {
    float* row = c + (blockIdx.y * kRows + r / 4 * 32 + ty * 4 + r % 4) * n + blockIdx.x * kCols;
    for (int half = 0; half < 2; ++half) {
      *reinterpret_cast<float4*>(row + 64 * half + tx * 4) = make_float4(
          sum[r][4 * half], sum[r][4 * half + 1], sum[r][4 * half + 2], sum[r][4 * half + 3]);
    }
  }
}

void check(cudaError_t error) {
  if (error != cudaSuccess) std::abort();
}

}  // namespace

void run_product(Product product, int m, int n, int k) {
  float *a, *b, *c;
  check(cudaMalloc(&a, sizeof(float) * static_cast<size_t>(m) * k));
  check(cudaMalloc(&b, sizeof(float) * static_cast<size_t>(k) * n));
  check(cudaMalloc(&c, sizeof(float) * static_cast<size_t>(m) * n));
  check(cudaMemset(a, 0, sizeof(float) * static_cast<size_t>(m) * k));
  check(cudaMemset(b, 0, sizeof(float) * static_cast<size_t>(k) * n));
  switch (product) {
    case Product::kNaive:
      naive<<<dim3(n / 16, m / 16), dim3(16, 16)>>>(a, b, c, m, n, k);
      break;
    case Product::kLibraryLike:
      library_like<<<dim3(n / 128, m / 64), 128>>>(a, b, c, n, k);
      break;
  }
  check(cudaDeviceSynchronize());
  check(cudaFree(a));
  check(cudaFree(b));
  check(cudaFree(c));
}
