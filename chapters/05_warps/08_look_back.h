// 05/08 Look back: what the test calls.
#ifndef CHAPTERS_05_WARPS_08_LOOK_BACK_H_
#define CHAPTERS_05_WARPS_08_LOOK_BACK_H_

#include <cstddef>

// 64-bit words of working memory for a scan of n elements: one per 256, and a few.
inline size_t look_back_words(int n) { return static_cast<size_t>(n) / 256 + 16; }

// y[i] = x[0] + ... + x[i].
//   d_x, d_y     n floats each in device memory, 0 <= n <= 2^30
//   d_workspace  look_back_words(n) words; what they hold before does not matter
void launch_look_back(const float* d_x, float* d_y, unsigned long long* d_workspace, int n);

#endif  // CHAPTERS_05_WARPS_08_LOOK_BACK_H_
