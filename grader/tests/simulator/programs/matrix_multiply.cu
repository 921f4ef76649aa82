// Tiled matrix product: templates, two-dimensional blocks, shared memory, events.
#include <cmath>
#include <vector>

#include "check.h"

template <int kTile>
__global__ void matmul_tiled(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float tile_a[kTile][kTile];
  __shared__ float tile_b[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y, col = blockIdx.x * kTile + threadIdx.x;
  float sum = 0.0f;
  for (int t = 0; t < (k + kTile - 1) / kTile; ++t) {
    const int a_col = t * kTile + threadIdx.x, b_row = t * kTile + threadIdx.y;
    tile_a[threadIdx.y][threadIdx.x] = row < m && a_col < k ? a[row * k + a_col] : 0.0f;
    tile_b[threadIdx.y][threadIdx.x] = b_row < k && col < n ? b[b_row * n + col] : 0.0f;
    __syncthreads();  // the tiles are complete
    for (int i = 0; i < kTile; ++i) sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
    __syncthreads();  // nobody reads them any more
  }
  if (row < m && col < n) c[row * n + col] = sum;
}

int main() {
  const int m = 70, n = 50, k = 90;
  std::vector<float> a(m * k), b(k * n), c(m * n);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 13) - 6.0f;
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 7) - 3.0f;
  float *d_a = nullptr, *d_b = nullptr, *d_c = nullptr;
  CHECK_CUDA(cudaMalloc(&d_a, a.size() * sizeof(float)));
  CHECK_CUDA(cudaMalloc(&d_b, b.size() * sizeof(float)));
  CHECK_CUDA(cudaMalloc(&d_c, c.size() * sizeof(float)));
  CHECK_CUDA(cudaMemcpy(d_a, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemcpy(d_b, b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice));
  cudaEvent_t start, stop;
  CHECK_CUDA(cudaEventCreate(&start));
  CHECK_CUDA(cudaEventCreate(&stop));
  const dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16);
  CHECK_CUDA(cudaEventRecord(start));
  matmul_tiled<16><<<grid, block>>>(d_a, d_b, d_c, m, n, k);
  CHECK_CUDA(cudaEventRecord(stop));
  CHECK_CUDA(cudaEventSynchronize(stop));
  float ms = 0.0f;
  CHECK_CUDA(cudaEventElapsedTime(&ms, start, stop));
  CHECK(ms > 0.0f);
  CHECK_CUDA(cudaMemcpy(c.data(), d_c, c.size() * sizeof(float), cudaMemcpyDeviceToHost));
  for (int row = 0; row < m; ++row) {
    for (int col = 0; col < n; ++col) {
      float sum = 0.0f;
      for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
      CHECK(c[row * n + col] == sum);  // small integers: exact in any order
    }
  }
  CHECK_CUDA(cudaEventDestroy(start));
  CHECK_CUDA(cudaEventDestroy(stop));
  CHECK_CUDA(cudaFree(d_a));
  CHECK_CUDA(cudaFree(d_b));
  CHECK_CUDA(cudaFree(d_c));
  std::printf("PASSED\n");
  return 0;
}
