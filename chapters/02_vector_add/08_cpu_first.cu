// 02/08 CPU first: a slow reference that is right, a comparison to trust, and only then the kernel.
//   x          n floats, n >= 2
//   midpoints  n - 1 values: (x[i] + x[i + 1]) / 2 for i = 0 .. n - 2
//   TODOs      3
#include <cmath>

#include "08_cpu_first.h"

void midpoints_cpu(const float* x, double* midpoints, int n) {
  // TODO(1): Compute the n - 1 midpoints in double (about 3 lines).
}

int first_difference(const float* got, int got_size, const double* expected, int expected_size,
                     double tolerance) {
  // TODO(2): Return the first position that differs, as the header says (about 6 lines).
  return -1;
}

__global__ void midpoints_per_thread(const float* x, float* midpoints, int n) {
  // TODO(3): One thread per midpoint, in float (about 4 lines).
}

void launch_midpoints(const float* d_x, float* d_midpoints, int n) {
  constexpr int kBlock = 256;                      // threads
  const int grid = (n - 1 + kBlock - 1) / kBlock;  // covers n - 1 midpoints
  midpoints_per_thread<<<grid, kBlock>>>(d_x, d_midpoints, n);
}
