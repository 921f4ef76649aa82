// 03/04 Stencil 1-D: each result needs nine neighbouring elements, so a block shares what it loads.
//   x, y    n floats in device memory, n >= 0
//   weight  2 * kRadius + 1 = 9 floats
//   y[i] = sum over k in [-4, 4] of weight.at[k + 4] * x[i + k], where x counts as 0 before its
//   first and after its last element.
//   Shared memory belongs to a block: all its threads see it, no other block does.
//   TODOs   3
#include "04_stencil_1d.h"

constexpr int kBlock = 256;  // threads; each has one result
constexpr int kTile = kBlock + 2 * kRadius;

__global__ void stencil_shared(const float* x, float* y, Weights weight, int n) {
  __shared__ float tile[kTile];  // x[begin - kRadius] up to x[begin + kBlock + kRadius - 1]
  const int begin = blockIdx.x * kBlock;

  // TODO(1): The tile holds what its first line says, with 0 where x has no such element. It has
  // more elements than the block has threads (about 4 lines).
  tile[threadIdx.x] = 0.0f;

  // TODO(2): From here on every thread may read every element of the tile (1 line).

  const int i = begin + threadIdx.x;
  float sum = 0.0f;
  // TODO(3): sum holds all nine products, and nothing more comes from global memory (about 3
  // lines).
  sum += weight.at[0] * tile[threadIdx.x];
  if (i < n) y[i] = sum;
}

void launch_stencil(const float* d_x, float* d_y, Weights weight, int n) {
  // Still TODO(3): A thread for every result; no launch where there is none (about 4 lines).
  if (n > 0) stencil_shared<<<1, kBlock>>>(d_x, d_y, weight, n);
}
