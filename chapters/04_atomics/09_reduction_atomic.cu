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
  // TODO(1): In thread 0, v is the sum over all threads of the block; at most two barriers (about
  // 8 lines).
  return v;
}

__global__ void __launch_bounds__(kBlock) reduce_atomic(const float* x, float* sum, int n) {
  float v = 0.0f;
  // TODO(2): v is the sum of this thread's elements; each element of x belongs to one thread of
  // the grid and is loaded once, 16 bytes at a time, and several such loads are under way together
  // (about 15 lines).
  v += threadIdx.x < n ? x[threadIdx.x] : 0.0f;

  v = block_sum(v);
  // TODO(3): The sum of the block has been added to *sum, by one atomic (3 lines).
}

void launch_reduction_atomic(const float* d_x, float* d_sum, int n) {
  // Still TODO(3): The sum begins at 0 in every call. There are as many blocks as there is work
  // for, and no more than run at the same time (about 8 lines).
}
