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

  //~ // TODO(1): The tile holds what its first line says, with 0 where x has no such element. It has
  //~ // more elements than the block has threads (about 4 lines).
  //~ tile[threadIdx.x] = 0.0f;
  //~begin 1
  // Neighbours read neighbours; in the second round only 8 threads have something left to do.
  for (int t = threadIdx.x; t < kTile; t += kBlock) {
    const int i = begin - kRadius + t;
    tile[t] = i >= 0 && i < n ? x[i] : 0.0f;
  }
  //~end

  //~ // TODO(2): From here on every thread may read every element of the tile (1 line).
  //~begin 2
  __syncthreads();  // closes write against read: nine threads use each element
  //~end

  const int i = begin + threadIdx.x;
  float sum = 0.0f;
  //~ // TODO(3): sum holds all nine products, and nothing more comes from global memory (about 3
  //~ // lines).
  //~ sum += weight.at[0] * tile[threadIdx.x];
  //~begin 3
#pragma unroll
  for (int k = 0; k <= 2 * kRadius; ++k) {
    sum += weight.at[k] * tile[threadIdx.x + k];  // x[i] itself is tile[threadIdx.x + kRadius]
  }
  //~end
  if (i < n) y[i] = sum;
}

void launch_stencil(const float* d_x, float* d_y, Weights weight, int n) {
  //~ // Still TODO(3): A thread for every result; no launch where there is none (about 4 lines).
  //~ if (n > 0) stencil_shared<<<1, kBlock>>>(d_x, d_y, weight, n);
  //~begin 3
  const int grid = (n + kBlock - 1) / kBlock;
  if (grid > 0) {
    stencil_shared<<<grid, kBlock>>>(d_x, d_y, weight, n);
  }
  //~end
}
