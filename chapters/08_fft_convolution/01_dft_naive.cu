// 08/01 DFT, naive: the transform from its definition, on paper, on the host, and as a kernel.
//   x, y   n complex values each: a float2 has the real part in x, the imaginary part in y
//          y[k] = sum over i of x[i] turn(i k / n), where turn(t) = exp(-2 pi t sqrt(-1))
//   turn(0) = 1, turn(1/4) = -i, turn(1/2) = -1, turn(3/4) = i: clockwise round the unit circle.
//   On paper: [1, -1, 1, -1] has y[2] = 1 - turn(2/4) + turn(4/4) - turn(6/4) = 4, the others 0.
//   TODOs  3
#include <cmath>

#include "01_dft_naive.h"
#include "support.h"

float2 dft_on_paper(int k) {
  // TODO(1): The transform of [0, 1, 0, -1], by hand: four pairs of real and imaginary part.
  const float2 y[4] = {{1, 1}, {1, 1}, {1, 1}, {1, 1}};
  return y[k];
}

void dft_on_host(const float2* x, float2* y, int n) {
  // TODO(2): y is the transform of x, with the sums in double (about 11 lines).
}

__global__ void dft_naive(const float2* x, float2* y, int n) {
  // TODO(3): y is the transform of x, for every n that the header allows, with six digits of
  // the angles left however many turns they make; the lanes of a warp read the same sector of x
  // at a time. + * and turn() are in support.h (about 8 lines here, and the launch below).
}

void launch_dft_naive(const float2* d_x, float2* d_y, int n) {
}
