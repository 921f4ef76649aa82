// 06/12 Child launch: a kernel that starts kernels, but only where there is something to do.
//   A picture of side x side cells shows a disc. coverage[cell] is how many of the kSamples points
//   of a cell lie in the disc: 0 outside, kSamples inside, something between on the border. The
//   flat launch tests every point of every cell. Here one thread looks at a whole cell, and only
//   for a border cell it launches a block that tests the points.
//   TODOs      2
#include "12_child_launch.h"

// One block of kSamples threads for one cell: coverage = points in the disc.
__global__ void sample_cell(Disc disc, int row, int col, int* coverage) {
  // TODO(1): *coverage is how many of the points of this cell lie in the disc.
  (void)disc, (void)row, (void)col, (void)coverage;
}

// One thread per cell.
__global__ void cover_adaptively(Disc disc, int side, int* coverage) {
  const int cell = blockIdx.x * blockDim.x + threadIdx.x;
  if (cell >= side * side) return;
  const int row = cell / side, col = cell % side;
  // TODO(2): coverage[cell] is right when the grid has ended, its children included. Only a cell
  // that the border crosses gets a child, and children do not wait for each other.
  (void)disc, (void)row, (void)col, (void)coverage;
}

void launch_adaptive_coverage(const Disc& disc, int side, int* d_coverage) {
  constexpr int kBlock = 64;  // threads
  cover_adaptively<<<(side * side + kBlock - 1) / kBlock, kBlock>>>(disc, side, d_coverage);
}
