// 05/06 Block scan: what the test calls.
#ifndef CHAPTERS_05_WARPS_06_BLOCK_SCAN_H_
#define CHAPTERS_05_WARPS_06_BLOCK_SCAN_H_

// y(row, col) = x(row, 0) + ... + x(row, col).
//   d_x, d_y  rows x cols floats each in device memory, row-major; rows >= 0, cols >= 1
void launch_block_scan(const float* d_x, float* d_y, int rows, int cols);

#endif  // CHAPTERS_05_WARPS_06_BLOCK_SCAN_H_
