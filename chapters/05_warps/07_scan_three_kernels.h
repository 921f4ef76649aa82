// 05/07 Scan in three kernels: what the test calls.
#ifndef CHAPTERS_05_WARPS_07_SCAN_THREE_KERNELS_H_
#define CHAPTERS_05_WARPS_07_SCAN_THREE_KERNELS_H_

#include <cstddef>

// Floats of working memory for a scan of n elements: one per 1024, and a few.
inline size_t scan_totals_size(int n) { return static_cast<size_t>(n) / 1024 + 16; }

// y[i] = x[0] + ... + x[i].
//   d_x, d_y  n floats each in device memory, 0 <= n <= 2^30
//   d_totals  scan_totals_size(n) floats; what they hold before does not matter
void launch_scan_three_kernels(const float* d_x, float* d_y, float* d_totals, int n);

#endif  // CHAPTERS_05_WARPS_07_SCAN_THREE_KERNELS_H_
