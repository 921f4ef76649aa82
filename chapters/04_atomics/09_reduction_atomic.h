// 04/09 Reduction, atomic: what the test calls.
#ifndef CHAPTERS_04_ATOMICS_09_REDUCTION_ATOMIC_H_
#define CHAPTERS_04_ATOMICS_09_REDUCTION_ATOMIC_H_

// *d_sum = x[0] + ... + x[n - 1], added in any order.
//   d_x    n floats in device memory, 0 <= n <= 2^30, aligned to 16 bytes
//   d_sum  one float in device memory; holds nothing of use before the call; 0 for n = 0
void launch_reduction_atomic(const float* d_x, float* d_sum, int n);

#endif  // CHAPTERS_04_ATOMICS_09_REDUCTION_ATOMIC_H_
