// Accepted: no lambda; a table of three pointers to kernels, which have two tiles with rows and
// count the tiles of c along x alone.
#include "05_matmul_dynamic_tile.h"

using Kernel = void (*)(const float*, const float*, float*, int, int, int);

template <int kWidth>
__global__ void matmul_of_width(const float* __restrict__ a, const float* __restrict__ b, float* c,
                                int m, int n, int k) {
  __shared__ float tile_a[kWidth][kWidth];
  __shared__ float tile_b[kWidth][kWidth];
  const int x = threadIdx.x, y = threadIdx.y;
  const int across = (n + kWidth - 1) / kWidth;
  const int row = blockIdx.x / across * kWidth + y, col = blockIdx.x % across * kWidth + x;
  float sum = 0.0f;
  for (int first = 0; first < k; first += kWidth) {
    tile_a[y][x] = row < m && first + x < k ? a[row * k + first + x] : 0.0f;
    tile_b[y][x] = col < n && first + y < k ? b[(first + y) * n + col] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kWidth; ++i) sum += tile_a[y][i] * tile_b[i][x];
    __syncthreads();
  }
  if (row < m && col < n) c[row * n + col] = sum;
}

static bool wide_enough(int width, int m, int n) { return width >= m || width >= n; }

int tile_width(int m, int n, int threads, int shared_bytes) {
  int best = 8;
  for (int width = 16; width <= 32; width *= 2) {
    if (width * width > threads || 8 * width * width > shared_bytes) break;
    if (wide_enough(best, m, n)) break;
    best = width;
  }
  return best;
}

void launch_matmul_dynamic_tile(const float* d_a, const float* d_b, float* d_c, int m, int n,
                                int k) {
  if (m == 0 || n == 0) return;
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  const int width = tile_width(m, n, properties.maxThreadsPerBlock,
                               static_cast<int>(properties.sharedMemPerBlock));
  static const Kernel kernels[] = {matmul_of_width<8>, matmul_of_width<16>, matmul_of_width<32>};
  const int grid = (n + width - 1) / width * ((m + width - 1) / width);
  kernels[width / 16]<<<grid, dim3(width, width)>>>(d_a, d_b, d_c, m, n, k);
}
