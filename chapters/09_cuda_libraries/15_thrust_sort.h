// 09/15 Thrust, sorting: what the test calls.
#ifndef CHAPTERS_09_CUDA_LIBRARIES_15_THRUST_SORT_H_
#define CHAPTERS_09_CUDA_LIBRARIES_15_THRUST_SORT_H_

#include <cuda_runtime.h>

// n particles, each in one of `cells` cells; all arrays in device memory, n from 0. Work of
// `stream`; the arrays are ready when the stream has got there.

// Sorts cell[0 .. n-1] upwards. order[i]: which particle stood where cell[i] came from; particles
// of one cell keep their order.
void launch_sort_by_cell(int* d_cell, int* d_order, int n, cudaStream_t stream);

// cell: sorted, values in [0, cells). start[c]: how many elements are smaller than c, for c from 0
// to cells, so that the particles of cell c stand at start[c] .. start[c + 1] - 1.
void launch_cell_starts(const int* d_cell, int n, int cells, int* d_start, cudaStream_t stream);

// y[i] = x[order[i]].
void launch_gather(const float* d_x, const int* d_order, float* d_y, int n, cudaStream_t stream);

#endif  // CHAPTERS_09_CUDA_LIBRARIES_15_THRUST_SORT_H_
