// 09/15 Thrust, sorting: particles in the order of the cells in which they are.
//   cell, order  n ints,  start  cells + 1 ints,  x, y  n floats: in device memory
//   A simulation looks for neighbours, a renderer for transparent triangles: both begin with a sort
//   of pairs. An algorithm of Thrust gets an execution policy that says where: without one, a plain
//   pointer counts as a pointer to host memory.
//   TODOs  3
#include <thrust/sort.h>
#include <thrust/system/cuda/execution_policy.h>

#include "15_thrust_sort.h"

//~begin 1
__global__ void number(int* order, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) order[i] = i;
}

//~end
void launch_sort_by_cell(int* d_cell, int* d_order, int n, cudaStream_t stream) {
  //~ // TODO(1): Cells in order, and for each place the particle that stood there; particles of one
  //~ // cell keep their order. All of it in `stream`, with no wait of yours.
  //~ static_cast<void>(d_cell), static_cast<void>(d_order), static_cast<void>(n);
  //~ static_cast<void>(stream);
  //~begin 1
  constexpr int kBlock = 256;  // threads
  if (n == 0) return;
  number<<<(n + kBlock - 1) / kBlock, kBlock, 0, stream>>>(d_order, n);
  thrust::stable_sort_by_key(thrust::cuda::par_nosync.on(stream), d_cell, d_cell + n, d_order);
  //~end
}

//~begin 2
// Thread i looks at the gap before element i: cells from that of i - 1 to that of i begin there.
// One thread more than there are elements looks at the gap behind the last.
__global__ void cell_starts(const int* cell, int n, int cells, int* start) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) {
    const int before = i == 0 ? -1 : cell[i - 1];
    const int behind = i == n ? cells : cell[i];
    for (int c = before + 1; c <= behind; ++c) start[c] = i;  // none inside of a cell
  }
}

//~end
void launch_cell_starts(const int* d_cell, int n, int cells, int* d_start, cudaStream_t stream) {
  //~ // TODO(2): start[c] for every c from 0 to cells, also for cells that nobody is in. No cell has
  //~ // to be read more than twice.
  //~ static_cast<void>(d_cell), static_cast<void>(n), static_cast<void>(cells);
  //~ static_cast<void>(d_start), static_cast<void>(stream);
  //~begin 2
  constexpr int kBlock = 256;  // threads
  const int grid = n / kBlock + 1;  // covers n + 1
  cell_starts<<<grid, kBlock, 0, stream>>>(d_cell, n, cells, d_start);
  //~end
}

//~begin 3
__global__ void gather(const float* x, const int* order, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = x[order[i]];
  }
}

//~end
void launch_gather(const float* d_x, const int* d_order, float* d_y, int n, cudaStream_t stream) {
  //~ // TODO(3): Which particle belongs to place i, and which place to particle i? The header asks
  //~ // for one of the two.
  //~ static_cast<void>(d_x), static_cast<void>(d_order), static_cast<void>(d_y);
  //~ static_cast<void>(n), static_cast<void>(stream);
  //~begin 3
  constexpr int kBlock = 256;  // threads
  if (n > 0) gather<<<(n + kBlock - 1) / kBlock, kBlock, 0, stream>>>(d_x, d_order, d_y, n);
  //~end
}
