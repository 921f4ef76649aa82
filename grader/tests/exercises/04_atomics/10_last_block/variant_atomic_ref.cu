// Accepted: one atomic that releases the partial sum and acquires those of the others.
#include <cuda/atomic>

#include "10_last_block.h"
#include "support.h"

constexpr int kBlock = 256;  // threads

// Sum of v over the block, valid in thread 0. The last block calls it twice.
__device__ float block_sum(float v) {
  constexpr int kWarps = kBlock / 32;
  __shared__ float sums[kWarps];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  v = warp_sum(v);
  __syncthreads();  // in a second call: everybody has read the sums of the first
  if (lane == 0) sums[warp] = v;
  __syncthreads();  // all sums are there before warp 0 reads them
  if (warp == 0) v = warp_sum(lane < kWarps ? sums[lane] : 0.0f);
  return v;
}

__global__ void sum_last_block(const float* x, float* sum, float* partial, unsigned* arrived,
                               int n) {
  float v = 0.0f;
  for (int i = blockIdx.x * kBlock + threadIdx.x; i < n; i += gridDim.x * kBlock) {
    v += x[i];
  }
  v = block_sum(v);

  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    is_last = false;
    partial[blockIdx.x] = v;
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> counter(*arrived);
    is_last = counter.fetch_add(1, cuda::memory_order_acq_rel) == gridDim.x - 1;
    if (is_last) *arrived = 0;  // nobody else comes any more
  }
  __syncthreads();  // all threads learn from thread 0 whether their block is the last
  if (!is_last) return;

  float total = 0.0f;
  for (int b = threadIdx.x; b < gridDim.x; b += kBlock) {
    total += partial[b];
  }
  total = block_sum(total);
  if (threadIdx.x == 0) *sum = total;
}

void launch_sum_last_block(const float* d_x, float* d_sum, float* d_partial, unsigned* d_arrived,
                           int n) {
  constexpr int kFloatsPerBlock = 4 * kBlock;  // at least, so that small sums need few blocks
  const int wanted = n / kFloatsPerBlock + 1;  // one block also for n = 0: it stores 0
  const int grid = wanted < kMostBlocks ? wanted : kMostBlocks;
  sum_last_block<<<grid, kBlock>>>(d_x, d_sum, d_partial, d_arrived, n);
}
