// 02/08 CPU first: a slow reference that is right, a comparison to trust, and only then the kernel.
//   x          n floats, n >= 2
//   midpoints  n - 1 values: (x[i] + x[i + 1]) / 2 for i = 0 .. n - 2
//   TODOs      3
#include <cmath>

#include "08_cpu_first.h"

void midpoints_cpu(const float* x, double* midpoints, int n) {
  // TODO(1): The midpoints, so exact that no kernel can be blamed for their error (3 lines).
}

int first_difference(const float* got, int got_size, const double* expected, int expected_size,
                     double tolerance) {
  // TODO(2): The first position that differs, in every case that the header names (6 lines).
  return -1;
}

__global__ void midpoints_per_thread(const float* x, float* midpoints, int n) {
  // TODO(3): One thread computes one midpoint, in float (about 4 lines).
}

void launch_midpoints(const float* d_x, float* d_midpoints, int n) {
  constexpr int kBlock = 256;  // threads
  // TODO(3), the launch: a thread for every midpoint (2 lines).
  midpoints_per_thread<<<1, kBlock>>>(d_x, d_midpoints, n);
}
