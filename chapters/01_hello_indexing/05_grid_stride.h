// 01/05 Grid-stride loop
#ifndef CHAPTERS_01_HELLO_INDEXING_05_GRID_STRIDE_H_
#define CHAPTERS_01_HELLO_INDEXING_05_GRID_STRIDE_H_

// ReLU: d_y[i] = d_x[i] where that is positive, else a zero of either sign (also for a NaN), for
// 0 <= i < n. Both hold n floats.

// With the grid that the caller chose, blocks >= 1, 1 <= threads <= 1024, at most 2^30 threads in
// all, whatever n is; n from 0 to 2^30.
void launch_relu_on(int blocks, int threads, const float* d_x, float* d_y, int n);

// With a grid of its own: as many blocks as it takes to cover n, but at most 8,192 threads in all,
// such as 32 blocks of 256. n from 0 to 2^30.
void launch_relu(const float* d_x, float* d_y, int n);

#endif  // CHAPTERS_01_HELLO_INDEXING_05_GRID_STRIDE_H_
