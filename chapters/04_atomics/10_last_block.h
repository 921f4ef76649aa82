// 04/10 Last block: what the test calls.
#ifndef CHAPTERS_04_ATOMICS_10_LAST_BLOCK_H_
#define CHAPTERS_04_ATOMICS_10_LAST_BLOCK_H_

constexpr int kMostBlocks = 1024;

// *d_sum = x[0] + ... + x[n - 1], by one kernel launch, with the same bits in every call.
//   d_x        n floats in device memory, n from 0 to 2^30
//   d_sum      one float in device memory; holds nothing of use before the call; 0 for n = 0
//   d_partial  kMostBlocks floats in device memory, for use by the launcher
//   d_arrived  one unsigned in device memory: 0 before the call, and 0 again after it
void launch_sum_last_block(const float* d_x, float* d_sum, float* d_partial, unsigned* d_arrived,
                           int n);

#endif  // CHAPTERS_04_ATOMICS_10_LAST_BLOCK_H_
