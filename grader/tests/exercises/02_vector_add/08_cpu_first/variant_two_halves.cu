// Another right answer: half of each neighbour; the comparison looks at the sizes first.
#include <algorithm>

#include "08_cpu_first.h"

void midpoints_cpu(const float* x, double* midpoints, int n) {
  const float* const last = x + n - 1;
  while (x != last) {
    *midpoints++ = 0.5 * x[0] + 0.5 * x[1];
    ++x;
  }
}

int first_difference(const float* got, int got_size, const double* expected, int expected_size,
                     double tolerance) {
  const int common = std::min(got_size, expected_size);
  int i = 0;
  while (i < common && got[i] >= expected[i] - tolerance && got[i] <= expected[i] + tolerance) {
    ++i;
  }
  return i == common && got_size == expected_size ? -1 : i;
}

__global__ void midpoints_strided(const float* x, float* midpoints, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    midpoints[i] = 0.5f * x[i] + 0.5f * x[i + 1];
  }
}

void launch_midpoints(const float* d_x, float* d_midpoints, int n) {
  midpoints_strided<<<4, 128>>>(d_x, d_midpoints, n - 1);
}
