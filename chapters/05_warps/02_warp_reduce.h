// 05/02 Warp reduce: what the test calls.
#ifndef CHAPTERS_05_WARPS_02_WARP_REDUCE_H_
#define CHAPTERS_05_WARPS_02_WARP_REDUCE_H_

// d_x is rows x cols floats in device memory, row-major; rows >= 0, cols >= 1.

// sums[row] = sum of the row.        d_sums: rows floats
void launch_sum_rows(const float* d_x, float* d_sums, int rows, int cols);

// y = x - greatest of its row.       d_y: rows x cols floats; a row of nothing but -infinity
//                                    becomes NaN, since infinity less infinity is no number
void launch_subtract_row_max(const float* d_x, float* d_y, int rows, int cols);

#endif  // CHAPTERS_05_WARPS_02_WARP_REDUCE_H_
