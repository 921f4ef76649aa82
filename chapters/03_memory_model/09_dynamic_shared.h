// 03/09 Dynamic shared memory: what the test calls.
#ifndef CHAPTERS_03_MEMORY_MODEL_09_DYNAMIC_SHARED_H_
#define CHAPTERS_03_MEMORY_MODEL_09_DYNAMIC_SHARED_H_

// Most columns of a row that a block of the current device has shared memory for, 6 bytes each.
int largest_row();

// x[r][c] = x[r][p[p[c]]], in place. False, and nothing is launched, where a row does not fit; true
// otherwise, and an error of the launch is left for cudaGetLastError().
// Another device may be current in another call, each with a limit of its own.
//   d_x   rows x cols floats in device memory, row-major; rows, cols >= 1
//   d_p   cols indices in device memory, each below cols
bool launch_permute_twice(float* d_x, const unsigned short* d_p, int rows, int cols);

#endif  // CHAPTERS_03_MEMORY_MODEL_09_DYNAMIC_SHARED_H_
