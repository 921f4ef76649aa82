// 07/17 Matmul, batched: many small products in one launch, the number of the matrix in blockIdx.z.
//   a  m x k,  b  k x n,  c  m x n: floats, row-major, in device memory; c = a b, batch times
//   Matrix z of a begins stride_a floats after matrix z - 1, and so on: see the header.
//   A product of 64 x 64 has four blocks, and an H200 has 132 multiprocessors. Launched one by one,
//   most of the card waits for each; together they fill it.
//   TODOs  2
#include <algorithm>

#include "17_matmul_batched.h"

constexpr int kTile = 32;  // rows and columns of a tile, steps along k

// TODO(1): One grid for the whole batch. It has gridDim.z planes, perhaps fewer than there are
// matrices, and every product of the batch is made once. (Bring a tile from 04.)

__global__ void matmul_batched(const float* a, const float* b, float* c, int m, int n, int k,
                               int batch, long long stride_a, long long stride_b,
                               long long stride_c) {
}

void launch_matmul_batched(const float* d_a, const float* d_b, float* d_c, int m, int n, int k,
                           int batch, long long stride_a, long long stride_b, long long stride_c,
                           int most_planes) {
  if (m == 0 || n == 0 || batch == 0) return;
  // TODO(2): The grid, at most most_planes high, and the launch.
  const dim3 grid(1, 1, std::min(1, most_planes));
  matmul_batched<<<grid, dim3(kTile, kTile)>>>(d_a, d_b, d_c, m, n, k, batch, stride_a, stride_b,
                                               stride_c);
}
