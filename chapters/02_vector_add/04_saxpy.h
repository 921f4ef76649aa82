// 02/04 Saxpy: what the test calls.
#ifndef CHAPTERS_02_VECTOR_ADD_04_SAXPY_H_
#define CHAPTERS_02_VECTOR_ADD_04_SAXPY_H_

// y = a * x + y.
//   d_x, d_y    n floats each in device memory, 0 <= n <= 10^9; n = 0 does nothing
//   block       threads per block, 1 <= block <= 1024, not always a multiple of 32
//   max_blocks  launches as many blocks as cover n, but at most this many; max_blocks >= 1
void launch_saxpy(float a, const float* d_x, float* d_y, int n, int block, int max_blocks);

#endif  // CHAPTERS_02_VECTOR_ADD_04_SAXPY_H_
