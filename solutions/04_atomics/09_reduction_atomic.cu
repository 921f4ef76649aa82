// 04/09 Reduction, atomic: the sum of n floats at the speed at which memory delivers them.
//   Each thread adds up many elements in a register, a block adds up its threads in shared memory,
//   and one atomic per block adds to the result.
//   x        n floats in device memory, n >= 0, aligned to 16 bytes
//   support.h gives warp_sum(v), the sum over a warp in lane 0, and blocks_on_card().
//   TODOs    3
#include "09_reduction_atomic.h"
#include "support.h"

constexpr int kBlock = 512;  // threads

// Sum of v over the threads of the block, valid in thread 0. All threads take part.
__device__ float block_sum(float v) {
  //~ // TODO(1): In thread 0, v is the sum over all threads of the block; at most two barriers (about
  //~ // 8 lines).
  //~begin 1
  constexpr int kWarps = kBlock / 32;  // at most 32
  __shared__ float sums[kWarps];       // one per warp
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  v = warp_sum(v);
  if (lane == 0) sums[warp] = v;
  __syncthreads();  // all sums are there before warp 0 reads them
  if (warp == 0) v = warp_sum(lane < kWarps ? sums[lane] : 0.0f);
  //~end
  return v;
}

__global__ void __launch_bounds__(kBlock) reduce_atomic(const float* x, float* sum, int n) {
  float v = 0.0f;
  //~ // TODO(2): v is the sum of this thread's elements; each element of x belongs to one thread of
  //~ // the grid and is loaded once, 16 bytes at a time, and several such loads are under way together
  //~ // (about 15 lines).
  //~ v += threadIdx.x < n ? x[threadIdx.x] : 0.0f;
  //~begin 2
  const float4* groups = reinterpret_cast<const float4*>(x);  // 16 bytes each
  const int whole = n / 4;
  constexpr int kLoads = 4;               // 16-byte loads that a thread has under way at a time
  constexpr int kTile = kLoads * kBlock;  // groups that a block reads in one round
  for (int i = blockIdx.x * kTile + threadIdx.x; i < whole; i += gridDim.x * kTile) {
    float4 group[kLoads] = {};
    // A load is waited for where its value is used. All are under way before the first is used.
    for (int k = 0; k < kLoads; ++k) {
      if (i + k * kBlock < whole) group[k] = groups[i + k * kBlock];
    }
    for (int k = 0; k < kLoads; ++k) {
      v += (group[k].x + group[k].y) + (group[k].z + group[k].w);
    }
  }
  const int tail = whole * 4 + blockIdx.x * kBlock + threadIdx.x;  // at most 3 floats
  if (tail < n) v += x[tail];
  //~end

  v = block_sum(v);
  //~ // TODO(3): The sum of the block has been added to *sum, by one atomic (3 lines).
  //~begin 3
  if (threadIdx.x == 0) {
    atomicAdd(sum, v);
  }
  //~end
}

void launch_reduction_atomic(const float* d_x, float* d_sum, int n) {
  //~ // Still TODO(3): The sum begins at 0 in every call. There are as many blocks as there is work
  //~ // for, and no more than run at the same time (about 8 lines).
  //~begin 3
  cudaMemsetAsync(d_sum, 0, sizeof(float));     // four bytes of 0 are 0.0f
  constexpr int kFloatsPerBlock = 16 * kBlock;  // at least: one round of its loop
  const int wanted = (n + kFloatsPerBlock - 1) / kFloatsPerBlock;
  const int fitting = blocks_on_card(reduce_atomic, kBlock);
  const int grid = wanted < fitting ? wanted : fitting;
  if (grid > 0) {
    reduce_atomic<<<grid, kBlock>>>(d_x, d_sum, n);
  }
  //~end
}
