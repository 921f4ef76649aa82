// 06/10 Profile matmul: the kernel to be profiled. Right, and slow for one reason.
#include "10_profile_matmul.h"

// c = a b^T: c[row][col] is the product of row `row` of a and row `col` of b. One thread per
// element; lanes of a warp have neighbouring columns.
__global__ void matmul_nt(const float* a, const float* b, float* c, int m, int n, int k) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n) return;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) {
    const float from_a = a[row * k + i];
    const float from_b = b[col * k + i];
    sum += from_a * from_b;
  }
  c[row * n + col] = sum;
}

void launch_matmul_nt_slow(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  const dim3 block(32, 8);
  matmul_nt<<<dim3((n + 31) / 32, (m + 7) / 8), block>>>(d_a, d_b, d_c, m, n, k);
}
