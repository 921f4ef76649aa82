// Starts by a search for the end of each run, and a gather by a grid-stride loop.
#include <thrust/sort.h>
#include <thrust/system/cuda/execution_policy.h>

#include "15_thrust_sort.h"

namespace {

__global__ void count_up(int* order, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    order[i] = i;
  }
}

__global__ void search_starts(const int* cell, int n, int cells, int* start) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c > cells) return;
  int low = 0, high = n;  // the first element that is not smaller than c lies between
  while (low < high) {
    const int middle = (low + high) / 2;
    if (cell[middle] < c) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  start[c] = low;
}

__global__ void take(const float* x, const int* order, float* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    y[i] = x[order[i]];
  }
}

}  // namespace

void launch_sort_by_cell(int* d_cell, int* d_order, int n, cudaStream_t stream) {
  count_up<<<4, 128, 0, stream>>>(d_order, n);
  thrust::stable_sort_by_key(thrust::cuda::par_nosync.on(stream), d_cell, d_cell + n, d_order);
}

void launch_cell_starts(const int* d_cell, int n, int cells, int* d_start, cudaStream_t stream) {
  search_starts<<<cells / 128 + 1, 128, 0, stream>>>(d_cell, n, cells, d_start);
}

void launch_gather(const float* d_x, const int* d_order, float* d_y, int n, cudaStream_t stream) {
  take<<<2, 256, 0, stream>>>(d_x, d_order, d_y, n);
}
