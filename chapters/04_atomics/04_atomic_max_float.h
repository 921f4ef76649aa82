// 04/04 Atomic max of floats: what the test calls.
#ifndef CHAPTERS_04_ATOMICS_04_ATOMIC_MAX_FLOAT_H_
#define CHAPTERS_04_ATOMICS_04_ATOMIC_MAX_FLOAT_H_

// For every i in 0 .. n - 1, in any order and each as one step:
//   old[i] = cells[cell[i]]; cells[cell[i]] = max(cells[cell[i]], value[i])
// where the maximum of two values of which one is a NaN is a NaN, and that of two zeros either one.
//   d_cell, d_value  n ints and n floats in device memory; 0 <= cell[i] < number of cells
//   d_cells          floats in device memory, updated in place
//   d_old            n floats in device memory
void launch_max_per_cell(const int* d_cell, const float* d_value, float* d_cells, float* d_old,
                         int n);

#endif  // CHAPTERS_04_ATOMICS_04_ATOMIC_MAX_FLOAT_H_
