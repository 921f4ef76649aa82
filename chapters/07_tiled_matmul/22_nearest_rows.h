// 07/22 Nearest rows: what the test calls.
#ifndef CHAPTERS_07_TILED_MATMUL_22_NEAREST_ROWS_H_
#define CHAPTERS_07_TILED_MATMUL_22_NEAREST_ROWS_H_

// Two sets of points with k coordinates each: for every row i of x the row j of y that is nearest,
// by the square of the distance, the sum of (x[i][l] - y[j][l])^2 over l.
//   nearest[i]   that j; of equally near ones the first, where floats hold all squares exactly
//   distance[i]  that square, within 16 units of 2^-24 of |x[i]|^2 + |y[j]|^2; two squares that
//                differ by no more than that are taken as equal, and either row is right
//   d_x          m x k floats, d_y  n x k floats; row-major in device memory; finite, and so is
//   four
//                times the sum of the squares of each row
//   d_nearest    m ints, d_distance  m floats
//   m from 0, n and k from 1, each up to 2^30; an int counts the elements of x, of y, and of m x n
void launch_nearest_rows(const float* d_x, const float* d_y, int* d_nearest, float* d_distance,
                         int m, int n, int k);

// Given, in 22_nearest_rows_baseline.cu: a thread for each row of x, which goes through all of y.
void launch_nearest_by_thread(const float* d_x, const float* d_y, int* d_nearest, float* d_distance,
                              int m, int n, int k);

#endif  // CHAPTERS_07_TILED_MATMUL_22_NEAREST_ROWS_H_
