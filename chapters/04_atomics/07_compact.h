// 04/07 Compact: what the test calls.
#ifndef CHAPTERS_04_ATOMICS_07_COMPACT_H_
#define CHAPTERS_04_ATOMICS_07_COMPACT_H_

// Keeps the elements of x that are greater than 0: *d_count is their number, and d_kept[0] to
// d_kept[*d_count - 1] are these elements, in any order. The rest of d_kept is not written.
//   d_x, d_kept  n floats each in device memory, n from 0 to 2^30; a NaN is greater than nothing
//   d_count      one int in device memory; holds nothing of use before the call
void launch_compact(const float* d_x, float* d_kept, int* d_count, int n);

#endif  // CHAPTERS_04_ATOMICS_07_COMPACT_H_
