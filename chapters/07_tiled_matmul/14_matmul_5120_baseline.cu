// 07/14 Given: the three kernels of the lecture, with tiles and blocks of 16 x 16 or 32 x 32.
#include "14_matmul_5120.h"

namespace {

// One thread for each element of c; lanes of a warp have neighbouring columns.
__global__ void lecture_naive(const float* a, const float* b, float* c, int m, int n, int k) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
  c[row * n + col] = sum;
}

// Both tiles of a step, from shared memory. kWidth = 0: the width is known at run time only.
template <int kWidth>
__global__ void lecture_tiled(const float* a, const float* b, float* c, int m, int n, int k,
                              int run_time_width) {
  extern __shared__ float tiles[];
  const int width = kWidth > 0 ? kWidth : run_time_width;
  float *const tile_a = tiles, *const tile_b = tiles + width * width;  // width x width each
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * width + ty, col = blockIdx.x * width + tx;
  float sum = 0.0f;
  for (int first = 0; first < k; first += width) {
    const int i_a = first + tx, i_b = first + ty;
    tile_a[ty * width + tx] = row < m && i_a < k ? a[row * k + i_a] : 0.0f;
    tile_b[ty * width + tx] = i_b < k && col < n ? b[i_b * n + col] : 0.0f;
    __syncthreads();  // closes write against read
    for (int i = 0; i < width; ++i) sum += tile_a[ty * width + i] * tile_b[i * width + tx];
    __syncthreads();  // closes read against write
  }
  if (row < m && col < n) c[row * n + col] = sum;
}

}  // namespace

void launch_lecture(Lecture kernel, int width, const float* d_a, const float* d_b, float* d_c,
                    int m, int n, int k) {
  const dim3 grid((n + width - 1) / width, (m + width - 1) / width), block(width, width);
  if (grid.x == 0 || grid.y == 0) return;
  const size_t bytes = 2 * sizeof(float) * width * width;
  if (kernel == Lecture::kNaive) {
    lecture_naive<<<grid, block>>>(d_a, d_b, d_c, m, n, k);
  } else if (kernel == Lecture::kDynamicTile) {
    lecture_tiled<0><<<grid, block, bytes>>>(d_a, d_b, d_c, m, n, k, width);
  } else if (width == 32) {
    lecture_tiled<32><<<grid, block, bytes>>>(d_a, d_b, d_c, m, n, k, width);
  } else {
    lecture_tiled<16><<<grid, block, bytes>>>(d_a, d_b, d_c, m, n, k, width);
  }
}
