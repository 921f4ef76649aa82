// 09/15 Thrust, sorting: particles in the order of the cells in which they are.
//   cell, order  n ints,  start  cells + 1 ints,  x, y  n floats: in device memory
//   A simulation looks for neighbours, a renderer for transparent triangles: both begin with a sort
//   of pairs. An algorithm of Thrust gets an execution policy that says where: without one, a plain
//   pointer counts as a pointer to host memory.
//   TODOs  3
#include <thrust/sort.h>
#include <thrust/system/cuda/execution_policy.h>

#include "15_thrust_sort.h"

void launch_sort_by_cell(int* d_cell, int* d_order, int n, cudaStream_t stream) {
  // TODO(1): Cells in order, and for each place the particle that stood there; particles of one
  // cell keep their order. All of it in `stream`, with no wait of yours.
  static_cast<void>(d_cell), static_cast<void>(d_order), static_cast<void>(n);
  static_cast<void>(stream);
}

void launch_cell_starts(const int* d_cell, int n, int cells, int* d_start, cudaStream_t stream) {
  // TODO(2): start[c] for every c from 0 to cells, also for cells that nobody is in. No cell has
  // to be read more than twice.
  static_cast<void>(d_cell), static_cast<void>(n), static_cast<void>(cells);
  static_cast<void>(d_start), static_cast<void>(stream);
}

void launch_gather(const float* d_x, const int* d_order, float* d_y, int n, cudaStream_t stream) {
  // TODO(3): Which particle belongs to place i, and which place to particle i? The header asks
  // for one of the two.
  static_cast<void>(d_x), static_cast<void>(d_order), static_cast<void>(d_y);
  static_cast<void>(n), static_cast<void>(stream);
}
