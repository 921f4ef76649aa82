// 07/04 Matmul, shared: a block loads what all its threads need once, tile by tile.
//   a  m x k,  b  k x n,  c  m x n: floats, row-major, in device memory; c = a b
//   Any sizes from 0; a sum of no products is 0. No matrix has 2^31 elements or more.
//   A block makes a tile of c, in steps along k. In each step its threads load a part of a and a
//   part of b, and every thread of the block uses them. Shape and size of the tiles are yours.
//   TODOs  1
#include "04_matmul_shared.h"

//~ // TODO(1): This is 03. What must hold instead: a block loads each word that its threads need
//~ // once per step, into tiles that all of them read.
//~ constexpr int kSide = 32;  // threads of a block side
//~
//~ __global__ void matmul_shared(const float* a, const float* b, float* c, int m, int n, int k) {
//~   const int row = blockIdx.y * kSide + threadIdx.y;
//~   const int col = blockIdx.x * kSide + threadIdx.x;  // a warp: 32 columns of one row
//~   if (row < m && col < n) {
//~     float sum = 0.0f;
//~     for (int i = 0; i < k; ++i) {
//~       sum += a[row * k + i] * b[i * n + col];  // one word for all lanes, 32 neighbouring ones
//~     }
//~     c[row * n + col] = sum;
//~   }
//~ }
//~begin 1
constexpr int kTile = 32;  // rows and columns of a tile, steps along k

__global__ void matmul_shared(const float* a, const float* b, float* c, int m, int n, int k) {
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
    __syncthreads();  // closes read against write: the next step overwrites both tiles
  }
  if (row < m && col < n) {
    c[row * n + col] = sum;
  }
}
//~end

void launch_matmul_shared(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  //~ const dim3 grid((n + kSide - 1) / kSide, (m + kSide - 1) / kSide);
  //~ if (grid.x > 0 && grid.y > 0) {
  //~   matmul_shared<<<grid, dim3(kSide, kSide)>>>(d_a, d_b, d_c, m, n, k);
  //~ }
  //~begin 1
  const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
  if (grid.x > 0 && grid.y > 0) {
    matmul_shared<<<grid, dim3(kTile, kTile)>>>(d_a, d_b, d_c, m, n, k);
  }
  //~end
}
