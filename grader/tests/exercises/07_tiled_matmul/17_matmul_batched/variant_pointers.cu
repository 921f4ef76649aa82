// Accepted: tiles of 16 x 16; pointers that walk from matrix to matrix.
#include "17_matmul_batched.h"

__global__ void matmul_of_tiles(const float* __restrict__ a, const float* __restrict__ b,
                                float* __restrict__ c, int m, int n, int k, int batch,
                                long long stride_a, long long stride_b, long long stride_c) {
  __shared__ float tile_a[16][16], tile_b[16][16];
  const int x = threadIdx.x, y = threadIdx.y;
  const int cols = (n + 15) / 16;  // tiles beside each other
  const int col = blockIdx.x % cols * 16 + x, row = blockIdx.x / cols * 16 + y;
  const float* a_z = a + blockIdx.z * stride_a;
  const float* b_z = b + blockIdx.z * stride_b;
  for (int z = blockIdx.z; z < batch; z += gridDim.z) {
    float sum = 0.0f;
    for (int first = 0; first < k; first += 16) {
      tile_a[y][x] = row < m && first + x < k ? a_z[row * k + first + x] : 0.0f;
      tile_b[y][x] = col < n && first + y < k ? b_z[(first + y) * n + col] : 0.0f;
      __syncthreads();
      for (int i = 0; i < 16; ++i) sum += tile_a[y][i] * tile_b[i][x];
      __syncthreads();
    }
    if (row < m && col < n) c[z * stride_c + row * n + col] = sum;
    a_z += gridDim.z * stride_a;
    b_z += gridDim.z * stride_b;
  }
}

void launch_matmul_batched(const float* d_a, const float* d_b, float* d_c, int m, int n, int k,
                           int batch, long long stride_a, long long stride_b, long long stride_c,
                           int most_planes) {
  const int planes = batch < most_planes ? batch : most_planes;
  // All tiles of a matrix along x: there may be more of them below each other than y allows.
  const dim3 grid((n + 15) / 16 * ((m + 15) / 16), 1, planes);
  if (m > 0 && n > 0 && planes > 0) {
    matmul_of_tiles<<<grid, dim3(16, 16)>>>(d_a, d_b, d_c, m, n, k, batch, stride_a, stride_b,
                                            stride_c);
  }
}
