// 06/14 Three tools: what the test and the program 14_three_tools_main.cpp call. All arrays are in
// device memory; the calls do not wait.
#ifndef CHAPTERS_06_STREAMS_AND_PROFILING_14_THREE_TOOLS_H_
#define CHAPTERS_06_STREAMS_AND_PROFILING_14_THREE_TOOLS_H_

#include <cuda_runtime.h>

// sums[i] = x[i] + x[i + 1] + x[i + 2]. x: n floats; sums: n - 2 floats, none if n < 3.
void launch_window_sums(const float* d_x, float* d_sums, int n);

// places[k]: the first i with sorted[i] >= keys[k], n if there is none. sorted: n floats in
// ascending order; keys: m floats; places: m ints. n and m from 0 to 2^30. No NaN.
void launch_find_places(const float* d_sorted, int n, const float* d_keys, int* d_places, int m);

// out[row][col] = in[row][col] * factors[row]. in, out: rows x cols floats, row-major; factors:
// rows floats.
void launch_scale_rows(const float* d_in, const float* d_factors, float* d_out, int rows, int cols);

#endif  // CHAPTERS_06_STREAMS_AND_PROFILING_14_THREE_TOOLS_H_
