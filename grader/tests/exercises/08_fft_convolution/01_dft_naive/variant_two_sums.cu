// i k modulo n is kept by adding, two sums take turns, and two blocks share all of y.
#include <cmath>

#include "01_dft_naive.h"
#include "support.h"

float2 dft_on_paper(int k) { return make_float2(0.0f, k % 2 == 0 ? 0.0f : k == 1 ? -2.0f : 2.0f); }

void dft_on_host(const float2* x, float2* y, int n) {
  const double step = -2 * std::acos(-1.0) / n;
  for (int k = 0; k < n; ++k) {
    double real = 0, imaginary = 0;
    for (int i = 0; i < n; ++i) {
      const double angle = step * (i * k % n);
      real += x[i].x * std::cos(angle) - x[i].y * std::sin(angle);
      imaginary += x[i].x * std::sin(angle) + x[i].y * std::cos(angle);
    }
    y[k] = make_float2(static_cast<float>(real), static_cast<float>(imaginary));
  }
}

__global__ void dft_two_sums(const float2* x, float2* y, int n) {
  const float per_step = 1.0f / static_cast<float>(n);
  for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += gridDim.x * blockDim.x) {
    float2 sums[2] = {};
    int power = 0;  // i k modulo n
    for (int i = 0; i < n; ++i) {
      sums[i % 2] = sums[i % 2] + turn(static_cast<float>(power) * per_step) * x[i];
      power += k;
      if (power >= n) power -= n;
    }
    y[k] = sums[0] + sums[1];
  }
}

void launch_dft_naive(const float2* d_x, float2* d_y, int n) {
  dft_two_sums<<<2, 64>>>(d_x, d_y, n);
}
