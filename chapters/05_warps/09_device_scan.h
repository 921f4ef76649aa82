// 05/09 Device scan: what the test calls.
#ifndef CHAPTERS_05_WARPS_09_DEVICE_SCAN_H_
#define CHAPTERS_05_WARPS_09_DEVICE_SCAN_H_

#include <cstddef>

// 64-bit words of working memory for a scan of n elements: one per 1024 and a few.
inline size_t scan_workspace_words(int n) { return static_cast<size_t>(n) / 1024 + 16; }

// y[i] = x[0] + ... + x[i].
//   d_x, d_y     n floats each in device memory, 0 <= n <= 2^30, aligned to 16 bytes
//   d_workspace  scan_workspace_words(n) words; what they hold before does not matter
void launch_device_scan(const float* d_x, float* d_y, unsigned long long* d_workspace, int n);

#endif  // CHAPTERS_05_WARPS_09_DEVICE_SCAN_H_
