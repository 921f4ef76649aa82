// Copies of n floats whose times are in proportion to n: ratios that are known beforehand.
#ifndef WARPLINGS_TESTS_GPU_PLANTED_H_
#define WARPLINGS_TESTS_GPU_PLANTED_H_

void launch_planted_copy(const float* d_in, float* d_out, int n);
// Keeps the card busy for about this many milliseconds; ends early on an error.
void launch_load(float* d_data, int n, double milliseconds);

#endif  // WARPLINGS_TESTS_GPU_PLANTED_H_
