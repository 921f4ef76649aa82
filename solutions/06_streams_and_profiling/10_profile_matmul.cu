// 06/10 Profile matmul: find the line that holds a kernel back, then write a kernel without it.
//   a  m x k,  b  n x k,  c  m x n, all row-major, any size >= 1:  c = a b^T
//   The slow kernel is in 10_profile_matmul_baseline.cu. `./grade profile 10_profile` shows for
//   every line of it how many sectors its loads move for each request.
//   TODOs    2
#include "10_profile_matmul.h"

// The line of 10_profile_matmul_baseline.cu that moves the most sectors.
//~ int hot_line() { return 0; }  // TODO(1): Its number.
//~begin 1
int hot_line() { return 13; }  // b[col * k + i]: the lanes of a warp read floats k apart
//~end

//~begin 2
constexpr int kTile = 32;  // elements of a tile side, and threads of a block side

__global__ void matmul_nt_tiled(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float tile_a[kTile][kTile];      // rows of c x part of k
  __shared__ float tile_b[kTile][kTile + 1];  // columns of c x part of k; padded: read by columns
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int first_row = blockIdx.y * kTile, first_col = blockIdx.x * kTile;
  float sum = 0.0f;
  for (int first = 0; first < k; first += kTile) {
    // tx runs along k in both: row ty of each tile is a piece of a row, 32 floats side by side.
    const bool inside = first + tx < k;
    const int row = first_row + ty, col = first_col + ty;
    tile_a[ty][tx] = inside && row < m ? a[row * k + first + tx] : 0.0f;
    tile_b[ty][tx] = inside && col < n ? b[col * k + first + tx] : 0.0f;
    __syncthreads();  // both tiles are complete before anybody reads them
    for (int i = 0; i < kTile; ++i) {
      sum += tile_a[ty][i] * tile_b[tx][i];
    }
    __syncthreads();  // everybody has read before the tiles are overwritten
  }
  if (first_row + ty < m && first_col + tx < n) {
    c[(first_row + ty) * n + first_col + tx] = sum;
  }
}

//~end
void launch_matmul_nt(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  //~ // TODO(2): The same product, by a kernel of yours whose loads move no more sectors than the
  //~ // floats that they ask for.
  //~ launch_matmul_nt_slow(d_a, d_b, d_c, m, n, k);
  //~begin 2
  const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
  matmul_nt_tiled<<<grid, dim3(kTile, kTile)>>>(d_a, d_b, d_c, m, n, k);
  //~end
}
