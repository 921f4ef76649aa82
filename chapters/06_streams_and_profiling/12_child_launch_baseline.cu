// 06/12 Child launch: every point of every cell, in one flat launch.
#include "12_child_launch.h"

// One block per cell, one thread per point.
__global__ void cover_flat(Disc disc, int side, int* coverage) {
  const int row = blockIdx.y, col = blockIdx.x;
  const int count = __syncthreads_count(disc.contains_sample(row, col, threadIdx.x));
  if (threadIdx.x == 0) {
    coverage[row * side + col] = count;
  }
}

void launch_flat_coverage(const Disc& disc, int side, int* d_coverage) {
  cover_flat<<<dim3(side, side), kSamples>>>(disc, side, d_coverage);
}
