// 05/10 Softmax of rows: what the test calls.
#ifndef CHAPTERS_05_WARPS_10_SOFTMAX_ROWS_H_
#define CHAPTERS_05_WARPS_10_SOFTMAX_ROWS_H_

// y(row, col) = exp(x(row, col)) / (exp(x(row, 0)) + ... + exp(x(row, cols - 1))), also where
// exp(x) itself would overflow or vanish; -infinity has the weight 0. Each row has a value that is
// finite, and none that is +infinity or NaN.
//   d_x, d_y  rows x cols floats each in device memory, row-major, aligned to 16 bytes;
//             rows >= 0, any cols >= 1
void launch_softmax_rows(const float* d_x, float* d_y, int rows, int cols);

// Given, in 10_softmax_rows_baseline.cu: a thread per row, three passes over it.
void launch_softmax_rows_by_thread(const float* d_x, float* d_y, int rows, int cols);

#endif  // CHAPTERS_05_WARPS_10_SOFTMAX_ROWS_H_
