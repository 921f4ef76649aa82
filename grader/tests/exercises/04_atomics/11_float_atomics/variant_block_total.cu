// Another right answer: the fixed-point sum is added up per block in shared memory, from the
// highest element down; the other two loop, with one atomic for each element as well.
#include "11_float_atomics.h"

template <class T>
__global__ void sum_in_order_of_arrival(const float* x, T* sum, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(sum, static_cast<T>(x[i]));
  }
}

__global__ void sum_blocks_of_units(const float* x, unsigned long long* total, int n) {
  __shared__ unsigned long long block_total;
  if (threadIdx.x == 0) block_total = 0;
  __syncthreads();  // it is 0 before anyone adds
  unsigned long long mine = 0;
  for (int i = n - 1 - threadIdx.x; i >= 0; i -= blockDim.x) {
    const long long units = llrint(static_cast<double>(x[i]) * 1099511627776.0);
    mine += static_cast<unsigned long long>(units);
  }
  atomicAdd(&block_total, mine);
  __syncthreads();  // everybody has added
  if (threadIdx.x == 0) *total = block_total;
}

double value_of_total(long long total) { return static_cast<double>(total) * 0x1p-40; }

void launch_sum_float(const float* d_x, float* d_sum, int n) {
  cudaMemset(d_sum, 0, sizeof *d_sum);
  sum_in_order_of_arrival<<<3, 64>>>(d_x, d_sum, n);
}

void launch_sum_double(const float* d_x, double* d_sum, int n) {
  cudaMemset(d_sum, 0, sizeof *d_sum);
  sum_in_order_of_arrival<<<3, 64>>>(d_x, d_sum, n);
}

void launch_sum_fixed(const float* d_x, long long* d_total, int n) {
  sum_blocks_of_units<<<1, 256>>>(d_x, reinterpret_cast<unsigned long long*>(d_total), n);
}
