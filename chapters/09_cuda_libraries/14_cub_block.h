// 09/14 CUB in a block: what the test calls.
#ifndef CHAPTERS_09_CUDA_LIBRARIES_14_CUB_BLOCK_H_
#define CHAPTERS_09_CUDA_LIBRARIES_14_CUB_BLOCK_H_

// For every row of x: sums[row][i] = x[row][0] + ... + x[row][i], and largest[row] = the largest
// element of the row. x, sums: rows x cols ints, row-major; largest: rows ints; all in device
// memory; rows from 0, cols from 1; an int holds rows * cols and every sum. Does not wait.
void launch_row_sums(const int* d_x, int* d_sums, int* d_largest, int rows, int cols);

#endif  // CHAPTERS_09_CUDA_LIBRARIES_14_CUB_BLOCK_H_
