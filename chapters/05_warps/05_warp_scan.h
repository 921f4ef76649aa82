// 05/05 Warp scan: what the test calls.
#ifndef CHAPTERS_05_WARPS_05_WARP_SCAN_H_
#define CHAPTERS_05_WARPS_05_WARP_SCAN_H_

// Prefix sums of each row; all arrays are rows x cols floats in device memory, row-major.
//   inclusive(row, col) = x(row, 0) + ... + x(row, col)
//   exclusive(row, col) = x(row, 0) + ... + x(row, col - 1), and 0 for col = 0
//   rows >= 0, cols >= 1
void launch_scan_rows(const float* d_x, float* d_inclusive, float* d_exclusive, int rows, int cols);

#endif  // CHAPTERS_05_WARPS_05_WARP_SCAN_H_
