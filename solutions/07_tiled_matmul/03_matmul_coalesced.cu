// 07/03 Matmul, coalesced: the naive kernel with its two indices swapped.
//   a  m x k,  b  k x n,  c  m x n: floats, row-major, in device memory; c = a b
//   Any sizes from 0; a sum of no products is 0. No matrix has 2^31 elements or more.
//   The 32 threads of a warp differ in threadIdx.x. They should read neighbouring elements.
//   TODOs  2
#include "03_matmul_coalesced.h"

constexpr int kSide = 32;  // threads of a block side

__global__ void matmul_coalesced(const float* a, const float* b, float* c, int m, int n, int k) {
  //~ // TODO(1): The product of 02, and every request of a warp asks for as few sectors as it can.
  //~begin 1
  const int row = blockIdx.y * kSide + threadIdx.y;
  const int col = blockIdx.x * kSide + threadIdx.x;  // a warp: 32 columns of one row
  if (row < m && col < n) {
    float sum = 0.0f;
    for (int i = 0; i < k; ++i) {
      sum += a[row * k + i] * b[i * n + col];  // one word for all lanes, 32 neighbouring ones
    }
    c[row * n + col] = sum;
  }
  //~end
}

void launch_matmul_coalesced(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  //~ // TODO(2): A grid that fits your indices, and the launch.
  //~ matmul_coalesced<<<1, dim3(kSide, kSide)>>>(d_a, d_b, d_c, m, n, k);
  //~begin 2
  const dim3 grid((n + kSide - 1) / kSide, (m + kSide - 1) / kSide);
  if (grid.x > 0 && grid.y > 0) {
    matmul_coalesced<<<grid, dim3(kSide, kSide)>>>(d_a, d_b, d_c, m, n, k);
  }
  //~end
}
