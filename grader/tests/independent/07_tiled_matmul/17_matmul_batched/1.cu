// 07/17 Matmul, batched: many small products in one launch, the number of the matrix in blockIdx.z.
//   a  m x k,  b  k x n,  c  m x n: floats, row-major, in device memory; c = a b, batch times
//   Matrix z of a begins stride_a floats after matrix z - 1, and so on: see the header.
//   A product of 64 x 64 has four blocks, and an H200 has 132 multiprocessors. Launched one by one,
//   most of the card waits for each; together they fill it.
//   TODOs  2
#include <algorithm>

#include "17_matmul_batched.h"

constexpr int kTile = 32;  // rows and columns of a tile, steps along k

// The tile of this block of c = a b, as in 04. All threads of the block call it.
__device__ void multiply_tile(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float tile_a[kTile][kTile];  // [row of c][step of k]
  __shared__ float tile_b[kTile][kTile];  // [step of k][column of c]
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * kTile + ty;
  const int col = blockIdx.x * kTile + tx;
  float sum = 0.0f;
  for (int first = 0; first < k; first += kTile) {
    tile_a[ty][tx] = row < m && first + tx < k ? a[row * k + first + tx] : 0.0f;
    tile_b[ty][tx] = first + ty < k && col < n ? b[(first + ty) * n + col] : 0.0f;
    __syncthreads();  // closes write against read: a thread reads what 62 others have loaded
    for (int i = 0; i < kTile; ++i) {
      sum += tile_a[ty][i] * tile_b[i][tx];
    }
    __syncthreads();  // closes read against write: the next step, or the next matrix, overwrites
  }
  if (row < m && col < n) {
    c[row * n + col] = sum;
  }
}

__global__ void matmul_batched(const float* a, const float* b, float* c, int m, int n, int k,
                               int batch, long long stride_a, long long stride_b,
                               long long stride_c) {
  // TODO(1): The grid has gridDim.z planes. Plane blockIdx.z multiplies the matrices blockIdx.z,
  // blockIdx.z + gridDim.z, ... of the batch (about 3 lines).
  for (int z = blockIdx.z; z < batch; z += gridDim.z) multiply_tile(a + z * stride_a, b + z * stride_b, c + z * stride_c, m, n, k);
}

void launch_matmul_batched(const float* d_a, const float* d_b, float* d_c, int m, int n, int k,
                           int batch, long long stride_a, long long stride_b, long long stride_c,
                           int most_planes) {
  if (m == 0 || n == 0 || batch == 0) return;
  const int rows = (m + kTile - 1) / kTile, cols = (n + kTile - 1) / kTile;  // tiles of a matrix
  const dim3 grid(cols, rows, std::min(batch, most_planes));  // TODO(2): A plane for each matrix,
                                                          // but most_planes at most.
  matmul_batched<<<grid, dim3(kTile, kTile)>>>(d_a, d_b, d_c, m, n, k, batch, stride_a, stride_b,
                                               stride_c);
}
