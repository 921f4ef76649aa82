// Given kernel of 07/05: the width of the tiles is a parameter, known only when the kernel runs.
#include "05_matmul_dynamic_tile.h"

namespace {

__global__ void matmul_run_time_width(const float* a, const float* b, float* c, int m, int n, int k,
                                      int width) {
  extern __shared__ float tiles[];              // two of width x width
  float* const tile_a = tiles;                  // [row of c][step of k]
  float* const tile_b = tiles + width * width;  // [step of k][column of c]
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * width + ty;
  const int col = blockIdx.x * width + tx;
  float sum = 0.0f;
  for (int first = 0; first < k; first += width) {
    const int i_a = first + tx, i_b = first + ty;
    tile_a[ty * width + tx] = row < m && i_a < k ? a[row * k + i_a] : 0.0f;
    tile_b[ty * width + tx] = i_b < k && col < n ? b[i_b * n + col] : 0.0f;
    __syncthreads();  // closes write against read: a thread reads what others have loaded
    for (int i = 0; i < width; ++i) {
      sum += tile_a[ty * width + i] * tile_b[i * width + tx];
    }
    __syncthreads();  // closes read against write: the next step overwrites both tiles
  }
  if (row < m && col < n) {
    c[row * n + col] = sum;
  }
}

}  // namespace

void launch_matmul_run_time_width(const float* d_a, const float* d_b, float* d_c, int m, int n,
                                  int k) {
  constexpr int kWidth = 32;
  const dim3 grid((n + kWidth - 1) / kWidth, (m + kWidth - 1) / kWidth);
  const size_t bytes = 2 * kWidth * kWidth * sizeof(float);
  if (grid.x > 0 && grid.y > 0) {
    matmul_run_time_width<<<grid, dim3(kWidth, kWidth), bytes>>>(d_a, d_b, d_c, m, n, k, kWidth);
  }
}
