// 05/03 Block reduce: what the test calls.
#ifndef CHAPTERS_05_WARPS_03_BLOCK_REDUCE_H_
#define CHAPTERS_05_WARPS_03_BLOCK_REDUCE_H_

constexpr int kMostPartials = 4096;  // floats of working memory, at most one per block

// sum[0] = x[0] + ... + x[n - 1], and 0 for n = 0.
//   d_x         n floats in device memory, 0 <= n <= 2^30, aligned to 16 bytes
//   d_sum       1 float
//   d_partials  kMostPartials floats of working memory, aligned to 16 bytes
void launch_block_reduce(const float* d_x, float* d_sum, float* d_partials, int n);

#endif  // CHAPTERS_05_WARPS_03_BLOCK_REDUCE_H_
