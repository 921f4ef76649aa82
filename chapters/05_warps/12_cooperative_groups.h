// 05/12 Cooperative groups: what the test calls.
#ifndef CHAPTERS_05_WARPS_12_COOPERATIVE_GROUPS_H_
#define CHAPTERS_05_WARPS_12_COOPERATIVE_GROUPS_H_

constexpr int kOctet = 8;
constexpr int kMostBlocks = 4096;  // of the cooperative launch

// sums[g] = x[8 g] + ... + x[8 g + 7], as far as they exist.
//   d_x     n floats in device memory, n from 0 to 2^30
//   d_sums  (n + 7) / 8 floats
void launch_sum_octets(const float* d_x, float* d_sums, int n);

// y = x / sqrt(x[0]^2 + ... + x[n - 1]^2), in one launch.
//   d_x, d_y    n floats in device memory, n from 1 to 2^30, not all 0; the sum of the squares
//               lies where floats have all their digits: from 1e-37 to 1e38
//   d_partials  kMostBlocks floats of working memory
void launch_normalise(const float* d_x, float* d_y, float* d_partials, int n);

#endif  // CHAPTERS_05_WARPS_12_COOPERATIVE_GROUPS_H_
