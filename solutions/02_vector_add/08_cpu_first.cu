// 02/08 CPU first: a slow reference that is right, a comparison to trust, and only then the kernel.
//   x          n floats, n >= 2
//   midpoints  n - 1 values: (x[i] + x[i + 1]) / 2 for i = 0 .. n - 2
//   TODOs      3
#include <cmath>

#include "08_cpu_first.h"

void midpoints_cpu(const float* x, double* midpoints, int n) {
  //~ // TODO(1): The midpoints, so exact that no kernel can be blamed for their error (3 lines).
  //~begin 1
  // In double the rounding error is 2^29 times smaller than in float: it will never be blamed.
  for (int i = 0; i + 1 < n; ++i) {
    midpoints[i] = (static_cast<double>(x[i]) + static_cast<double>(x[i + 1])) / 2.0;
  }
  //~end
}

int first_difference(const float* got, int got_size, const double* expected, int expected_size,
                     double tolerance) {
  //~ // TODO(2): The first position that differs, in every case that the header names (6 lines).
  //~begin 2
  const int common = got_size < expected_size ? got_size : expected_size;
  for (int i = 0; i < common; ++i) {
    // Every comparison with a NaN is false, so "error > tolerance" would let a NaN pass.
    if (!(std::fabs(got[i] - expected[i]) <= tolerance)) return i;
  }
  if (got_size != expected_size) return common;
  //~end
  return -1;
}

__global__ void midpoints_per_thread(const float* x, float* midpoints, int n) {
  //~ // TODO(3): One thread computes one midpoint, in float (about 4 lines).
  //~begin 3
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  // Element n - 1 has no right neighbour, so the guard is about i + 1 and not about i.
  if (i + 1 < n) {
    midpoints[i] = (x[i] + x[i + 1]) * 0.5f;
  }
  //~end
}

void launch_midpoints(const float* d_x, float* d_midpoints, int n) {
  constexpr int kBlock = 256;  // threads
  //~ // TODO(3), the launch: a thread for every midpoint (2 lines).
  //~ midpoints_per_thread<<<1, kBlock>>>(d_x, d_midpoints, n);
  //~begin 3
  const int grid = (n - 1 + kBlock - 1) / kBlock;  // covers n - 1 midpoints
  midpoints_per_thread<<<grid, kBlock>>>(d_x, d_midpoints, n);
  //~end
}
