// 10/06, given: the product of two matrices on one device.
#include "06_tensor_parallel.h"

namespace {

constexpr int kTile = 16;  // threads and elements in each direction

// c = a b, with negative elements set to 0 if `clips`. a  m x k, b  k x n, c  m x n,
// row-major.
__global__ void multiply(const float* a, const float* b, float* c, int m, int n, int k,
                         bool clips) {
  __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * kTile + ty, col = blockIdx.x * kTile + tx;
  float sum = 0.0f;
  for (int begin = 0; begin < k; begin += kTile) {
    tile_a[ty][tx] = row < m && begin + tx < k ? a[row * k + begin + tx] : 0.0f;
    tile_b[ty][tx] = begin + ty < k && col < n ? b[(begin + ty) * n + col] : 0.0f;
    __syncthreads();  // both tiles are complete
    for (int i = 0; i < kTile; ++i) sum += tile_a[ty][i] * tile_b[i][tx];
    __syncthreads();  // nobody reads them any more
  }
  if (row < m && col < n) c[row * n + col] = clips ? fmaxf(sum, 0.0f) : sum;
}

}  // namespace

void launch_multiply(const float* d_a, const float* d_b, float* d_c, int m, int n, int k,
                            bool clips, cudaStream_t stream) {
  const dim3 block(kTile, kTile), grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
  multiply<<<grid, block, 0, stream>>>(d_a, d_b, d_c, m, n, k, clips);
}
