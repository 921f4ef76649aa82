// 04/01 Count matches: what the test calls.
#ifndef CHAPTERS_04_ATOMICS_01_COUNT_MATCHES_H_
#define CHAPTERS_04_ATOMICS_01_COUNT_MATCHES_H_

// *d_count = number of elements of x that are equal to value.
//   d_x      n ints in device memory, 0 <= n <= 2^30
//   d_count  one int in device memory; holds nothing of use before the call
void launch_count_matches(const int* d_x, int n, int value, int* d_count);

#endif  // CHAPTERS_04_ATOMICS_01_COUNT_MATCHES_H_
