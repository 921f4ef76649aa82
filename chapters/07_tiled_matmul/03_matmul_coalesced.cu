// 07/03 Matmul, coalesced: the naive kernel with its two indices swapped.
//   a  m x k,  b  k x n,  c  m x n: floats, row-major, in device memory; c = a b
//   Any sizes from 0; a sum of no products is 0. No matrix has 2^31 elements or more.
//   The 32 threads of a warp differ in threadIdx.x. They should read neighbouring elements.
//   TODOs  2
#include "03_matmul_coalesced.h"

constexpr int kSide = 32;  // threads of a block side

__global__ void matmul_coalesced(const float* a, const float* b, float* c, int m, int n, int k) {
  // TODO(1): Let x count what makes a warp read whole sectors (2 lines change).
  const int row = blockIdx.x * kSide + threadIdx.x;
  const int col = blockIdx.y * kSide + threadIdx.y;
  if (row < m && col < n) {
    float sum = 0.0f;
    for (int i = 0; i < k; ++i) {
      sum += a[row * k + i] * b[i * n + col];  // one word for all lanes, 32 neighbouring ones
    }
    c[row * n + col] = sum;
  }
}

void launch_matmul_coalesced(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  // TODO(2): The grid has to turn with the indices (1 line changes).
  const dim3 grid((m + kSide - 1) / kSide, (n + kSide - 1) / kSide);
  if (grid.x > 0 && grid.y > 0) {
    matmul_coalesced<<<grid, dim3(kSide, kSide)>>>(d_a, d_b, d_c, m, n, k);
  }
}
