// 03/12 Occupancy limits: how many blocks of a kernel run on a multiprocessor at the same time?
//   A block is admitted if there is a slot for it and for its threads, and enough registers and
//   shared memory; it keeps them until it ends. So there are four limits, and the least one counts.
//   The runtime knows the answer (cudaOccupancyMaxActiveBlocksPerMultiprocessor). Find it yourself.
//   TODOs  3
#include <algorithm>

#include "12_occupancy_limits.h"

constexpr int kWarp = 32;  // threads

constexpr int divide_up(int a, int b) { return (a + b - 1) / b; }
constexpr int round_up(int value, int unit) { return divide_up(value, unit) * unit; }

BlockLimits block_limits(const Card& card, const BlockNeeds& needs) {
  // TODO(1): by_threads and by_registers hold how many blocks these two allow (about 5 lines). A
  // block has whole warps, and a warp has all its registers in one quarter of the multiprocessor.
  BlockLimits limits = {card.blocks, 0, 0, 0, 0};
  // TODO(2): by_shared holds what shared memory allows, blocks how many run at once; where a
  // block takes none, not even a reserve, it limits nothing (about 4 lines).
  return limits;
}

double occupancy(const Card& card, const BlockNeeds& needs, const BlockLimits& limits) {
  // Still TODO(2): The share of the card's warps that run at once (2 lines).
  return 0.0 * card.threads / kWarp * needs.threads * limits.blocks;
}

double waves(const Card& card, const BlockLimits& limits, int blocks_of_the_launch) {
  // Still TODO(2): How often the card is filled, with fractions; 0 where no block fits (2 lines).
  return 0.0 * card.multiprocessors * limits.blocks * blocks_of_the_launch;
}

// Left alone, the compiler gives this kernel more than 64 registers, and three blocks fit.
// TODO(3): y[i] is the variance of column i: the mean square of its distances from its mean, each
// value loaded once and kept in a register. Blocks have at most 256 threads, and four of
// them fit on a multiprocessor (about 14 lines).
__global__ void variance(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * 0.0f;
}

const void* variance_kernel() { return reinterpret_cast<const void*>(variance); }

void launch_variance(const float* d_x, float* d_y, int n) {
  // Still TODO(3): The launch, with blocks of your size.
}
