// Another right answer: atomicAdd and a reset by hand, a thread that adds the partial sums alone,
// and parts of the array instead of a stride.
#include "10_last_block.h"
#include "support.h"

__global__ void sum_by_parts(const float* x, float* sum, float* partial, unsigned* arrived, int n) {
  const int part = (n + gridDim.x - 1) / gridDim.x;
  float v = 0.0f;
  for (int i = threadIdx.x; i < part && blockIdx.x * part + i < n; i += 32) {
    v += x[blockIdx.x * part + i];
  }
  v = warp_sum(v);
  if (threadIdx.x != 0) return;
  partial[blockIdx.x] = v;
  __threadfence();
  if (atomicAdd(arrived, 1u) + 1 < gridDim.x) return;
  __threadfence();
  float total = 0.0f;
  for (int b = 0; b < gridDim.x; ++b) total += partial[b];
  *sum = total;
  *arrived = 0;  // nobody else is left
}

void launch_sum_last_block(const float* d_x, float* d_sum, float* d_partial, unsigned* d_arrived,
                           int n) {
  const int wanted = n / 1024 + 1;
  const int grid = wanted < 512 ? wanted : 512;
  sum_by_parts<<<grid, 32>>>(d_x, d_sum, d_partial, d_arrived, n);
}
