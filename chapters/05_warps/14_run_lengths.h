// 05/14 Run lengths: what the test calls.
#ifndef CHAPTERS_05_WARPS_14_RUN_LENGTHS_H_
#define CHAPTERS_05_WARPS_14_RUN_LENGTHS_H_

#include <cstddef>

// 64-bit words of working memory for n elements: one per 1024, and a few.
inline size_t run_lengths_words(int n) { return static_cast<size_t>(n) / 1024 + 16; }

// x falls into runs, the longest stretches of neighbours that are equal. For each run r, in the
// order of x, values[r] is its value and starts[r] the position where it begins. starts[count] is
// n, so run r is starts[r + 1] - starts[r] elements long. Nothing is written past these.
//   d_x          n ints in device memory, 0 <= n <= 2^30
//   d_values     n ints, of which as many are written as there are runs
//   d_starts     n + 1 ints, of which one more is written
//   d_count      1 int: the number of runs, 0 for n = 0
//   d_workspace  run_lengths_words(n) words; what they hold before does not matter
void launch_run_lengths(const int* d_x, int* d_values, int* d_starts, int* d_count,
                        unsigned long long* d_workspace, int n);

// Given, in 14_run_lengths_baseline.cu: a thread for 1024 elements, for n from 1 to 2^30.
void launch_run_lengths_by_stretches(const int* d_x, int* d_values, int* d_starts, int* d_count,
                                     unsigned long long* d_workspace, int n);

#endif  // CHAPTERS_05_WARPS_14_RUN_LENGTHS_H_
