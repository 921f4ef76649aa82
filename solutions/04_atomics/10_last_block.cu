// 04/10 Last block: a sum in one launch, without an atomic on floats. Each block leaves its partial
// sum in global memory; the block that finds all others done adds the partial sums up, in order.
//   x         n floats in device memory, n >= 0
//   partial   [gridDim.x] floats, written by one block each, read by the last one
//   arrived   how many blocks have left their partial sum; 0 before and after the kernel
//   TODOs     3
#include "10_last_block.h"
#include "support.h"

constexpr int kBlock = 256;  // threads

// Sum of v over the block, valid in thread 0. The last block calls it twice.
__device__ float block_sum(float v) {
  //~ // TODO(1): As in 04/09, and the second call does not disturb the first (about 7 lines).
  //~begin 1
  constexpr int kWarps = kBlock / 32;
  __shared__ float sums[kWarps];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  v = warp_sum(v);
  __syncthreads();  // in a second call: everybody has read the sums of the first
  if (lane == 0) sums[warp] = v;
  __syncthreads();  // all sums are there before warp 0 reads them
  if (warp == 0) v = warp_sum(lane < kWarps ? sums[lane] : 0.0f);
  //~end
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
    //~ // Still TODO(1): partial has the sum of this block, and whoever sees the arrival below sees it
    //~ // (2 lines).
    //~begin 1
    partial[blockIdx.x] = v;
    __threadfence();  // the partial sum is visible before the arrival below
    //~end
    //~ // TODO(2): This block has arrived; is_last is true in exactly one block, the last to do so, and
    //~ // *arrived is then 0 again (2 lines).
    //~begin 2
    const unsigned before = atomicInc(arrived, gridDim.x - 1);  // wraps to 0 at the last block
    is_last = before == gridDim.x - 1;
    //~end
  }
  __syncthreads();  // all threads learn from thread 0 whether their block is the last
  if (!is_last) return;

  //~ // TODO(3): *sum is the sum of all partial sums, as the other blocks have left them, added in the
  //~ // same order in every run (about 7 lines).
  //~begin 3
  __threadfence();  // the partial sums are read after the arrivals have been seen
  float total = 0.0f;
  for (int b = threadIdx.x; b < gridDim.x; b += kBlock) {
    total += partial[b];
  }
  total = block_sum(total);
  if (threadIdx.x == 0) *sum = total;
  //~end
}

void launch_sum_last_block(const float* d_x, float* d_sum, float* d_partial, unsigned* d_arrived,
                           int n) {
  //~ // Still TODO(3): One launch, of 1 to kMostBlocks blocks, also for n = 0 (about 4 lines).
  //~begin 3
  constexpr int kFloatsPerBlock = 4 * kBlock;  // at least, so that small sums need few blocks
  const int wanted = n / kFloatsPerBlock + 1;  // one block also for n = 0: it stores 0
  const int grid = wanted < kMostBlocks ? wanted : kMostBlocks;
  sum_last_block<<<grid, kBlock>>>(d_x, d_sum, d_partial, d_arrived, n);
  //~end
}
