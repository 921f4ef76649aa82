// Accepted: a block of 256 threads that are one row of 256 columns.
#include "03_matmul_coalesced.h"

__global__ void matmul_row_pieces(const float* __restrict__ a, const float* __restrict__ b,
                                  float* __restrict__ c, int m, int n, int k) {
  const int row = blockIdx.x;
  const int col = blockIdx.y * blockDim.x + threadIdx.x;
  if (col >= n) return;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) sum = fmaf(a[row * k + i], b[i * n + col], sum);
  c[row * n + col] = sum;
}

void launch_matmul_coalesced(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  if (m == 0 || n == 0) return;
  matmul_row_pieces<<<dim3(m, (n + 255) / 256), 256>>>(d_a, d_b, d_c, m, n, k);
}
