// Another right answer: one float per load, 256 threads, a part of the array for each block, and a
// first step in shared memory instead of registers.
#include "09_reduction_atomic.h"
#include "support.h"

__global__ void reduce_parts(const float* x, float* sum, int n) {
  __shared__ float all[256];
  const int part = (n + gridDim.x - 1) / gridDim.x;
  const int begin = blockIdx.x * part;
  const int end = begin + part < n ? begin + part : n;
  float v = 0.0f;
  for (int i = begin + threadIdx.x; i < end; i += 256) v += x[i];
  all[threadIdx.x] = v;
  __syncthreads();  // all is complete
  if (threadIdx.x < 32) {
    v = 0.0f;
    for (int k = threadIdx.x; k < 256; k += 32) v += all[k];
    v = warp_sum(v);
    if (threadIdx.x == 0) atomicAdd(sum, v);
  }
}

void launch_reduction_atomic(const float* d_x, float* d_sum, int n) {
  cudaMemset(d_sum, 0, sizeof(float));
  int grid = n / 4096 + 1;
  if (grid > 1056) grid = 1056;
  reduce_parts<<<grid, 256>>>(d_x, d_sum, n);
}
