// 05/02 Warp reduce: what the test calls.
#ifndef CHAPTERS_05_WARPS_02_WARP_REDUCE_H_
#define CHAPTERS_05_WARPS_02_WARP_REDUCE_H_

// d_x is rows x cols floats in device memory, row-major; rows from 0 to 2^26, cols >= 1.

// sums[row] = sum of the row.        d_sums: rows floats
void launch_sum_rows(const float* d_x, float* d_sums, int rows, int cols);

// y = x - greatest of its row.       d_y: rows x cols floats; infinity less infinity is NaN: so
//                                    becomes an infinity that is the greatest of its row, and a
//                                    row of nothing but -infinity
void launch_subtract_row_max(const float* d_x, float* d_y, int rows, int cols);

#endif  // CHAPTERS_05_WARPS_02_WARP_REDUCE_H_
