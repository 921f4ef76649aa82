// 09/15 Thrust, sorting: particles in the order of the cells in which they are.
//   cell, order  n ints,  start  cells + 1 ints,  x, y  n floats: in device memory
//   A simulation looks for neighbours, a renderer for transparent triangles: both begin with a sort
//   of pairs. An algorithm of Thrust gets an execution policy that says where: without one, a plain
//   pointer counts as a pointer to host memory.
//   TODOs  3
#include <thrust/sort.h>
#include <thrust/system/cuda/execution_policy.h>

#include "15_thrust_sort.h"

namespace {

constexpr int kBlock = 256;  // threads

int blocks_for(int n) { return (n + kBlock - 1) / kBlock; }

}  // namespace

__global__ void number(int* order, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) order[i] = i;
}

void launch_sort_by_cell(int* d_cell, int* d_order, int n, cudaStream_t stream) {
  if (n == 0) return;
  number<<<blocks_for(n), kBlock, 0, stream>>>(d_order, n);
  // TODO(1): Sort the pairs by their cell, in the stream; equal cells keep their order. Which form
  // of sort promises that? The policy is thrust::cuda::par_nosync.on(stream) (2 lines).
  static_cast<void>(d_cell);
}

// Thread i looks at the gap before element i: cells from that of i - 1 to that of i begin there.
// One thread more than there are elements looks at the gap behind the last.
__global__ void cell_starts(const int* cell, int n, int cells, int* start) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) {
    // TODO(2): start[c] = i for every c above the cell before the gap, up to the one behind it. At
    // the ends of the array there are -1 and `cells` instead (about 4 lines).
    if (i < n) start[cell[i]] = i;
  }
}

void launch_cell_starts(const int* d_cell, int n, int cells, int* d_start, cudaStream_t stream) {
  cell_starts<<<blocks_for(n + 1), kBlock, 0, stream>>>(d_cell, n, cells, d_start);
}

__global__ void gather(const float* x, const int* order, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    // TODO(3): The particle that belongs here (1 line).
    y[order[i]] = x[i];
  }
}

void launch_gather(const float* d_x, const int* d_order, float* d_y, int n, cudaStream_t stream) {
  if (n > 0) gather<<<blocks_for(n), kBlock, 0, stream>>>(d_x, d_order, d_y, n);
}
