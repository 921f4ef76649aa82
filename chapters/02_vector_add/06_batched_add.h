// 02/06 Batched add: what the test calls.
#ifndef CHAPTERS_02_VECTOR_ADD_06_BATCHED_ADD_H_
#define CHAPTERS_02_VECTOR_ADD_06_BATCHED_ADD_H_

// c = a + b for a batch of `rows` vectors of `cols` floats, with one launch.
//   d_a, d_b, d_c  rows x cols floats each in device memory, row-major
//   rows           1 <= rows <= 65535
//   cols           1 <= cols <= 2^30, rows * cols < 2^31
void launch_batched_add(const float* d_a, const float* d_b, float* d_c, int rows, int cols);

#endif  // CHAPTERS_02_VECTOR_ADD_06_BATCHED_ADD_H_
