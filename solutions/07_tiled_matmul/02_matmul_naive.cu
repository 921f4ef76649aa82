// 07/02 Matmul, naive: one thread computes one element of the product.
//   a  m x k,  b  k x n,  c  m x n: floats, row-major, in device memory; c = a b
//   Any sizes from 0; a sum of no products is 0. No matrix has 2^31 elements or more.
//   Threads count rows of c with x and columns with y: 03 asks whether that is a good idea.
//   TODOs  2
#include "02_matmul_naive.h"

constexpr int kSide = 32;  // threads of a block side

__global__ void matmul_naive(const float* a, const float* b, float* c, int m, int n, int k) {
  //~ // TODO(1): Find this thread's row and column. Multiply that row of a with that column of b,
  //~ // unless c has no such element (about 8 lines).
  //~begin 1
  const int row = blockIdx.x * kSide + threadIdx.x;
  const int col = blockIdx.y * kSide + threadIdx.y;
  if (row < m && col < n) {
    float sum = 0.0f;
    for (int i = 0; i < k; ++i) {
      sum += a[row * k + i] * b[i * n + col];  // along the row of a, down the column of b
    }
    c[row * n + col] = sum;
  }
  //~end
}

void launch_matmul_naive(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  //~ const dim3 grid(1, 1);  // TODO(2): Enough blocks to cover the rows of c in x, the columns in y.
  //~begin 2
  const dim3 grid((m + kSide - 1) / kSide, (n + kSide - 1) / kSide);
  //~end
  if (grid.x > 0 && grid.y > 0) {
    matmul_naive<<<grid, dim3(kSide, kSide)>>>(d_a, d_b, d_c, m, n, k);
  }
}
