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
  //~ // TODO(1): The transform of [0, 1, 0, -1], by hand: four pairs of real and imaginary part.
  //~ const float2 y[4] = {{1, 1}, {1, 1}, {1, 1}, {1, 1}};
  //~begin 1
  // y[k] = turn(k / 4) - turn(3 k / 4): a quarter turn one way minus a quarter turn the other way.
  const float2 y[4] = {{0, 0}, {0, -2}, {0, 0}, {0, 2}};
  //~end
  return y[k];
}

void dft_on_host(const float2* x, float2* y, int n) {
  //~ // TODO(2): y is the transform of x, with the sums in double (about 11 lines).
  //~begin 2
  const double pi = std::acos(-1.0);
  for (int k = 0; k < n; ++k) {
    double real = 0, imaginary = 0;
    for (int i = 0; i < n; ++i) {
      const double angle = -2 * pi * i * k / n;
      const double c = std::cos(angle), s = std::sin(angle);
      real += x[i].x * c - x[i].y * s;
      imaginary += x[i].x * s + x[i].y * c;
    }
    y[k] = make_float2(static_cast<float>(real), static_cast<float>(imaginary));
  }
  //~end
}

__global__ void dft_naive(const float2* x, float2* y, int n) {
  //~ // TODO(3): y is the transform of x, for every n that the header allows, with six digits of
  //~ // the angles left however many turns they make; the lanes of a warp read the same sector of x
  //~ // at a time. + * and turn() are in support.h (about 8 lines here, and the launch below).
  //~begin 3
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < n) {
    float2 sum = make_float2(0.0f, 0.0f);
    for (int i = 0; i < n; ++i) {
      sum = sum + x[i] * turn(static_cast<float>(i * k % n) / n);  // all lanes read the same x[i]
    }
    y[k] = sum;
  }
  //~end
}

void launch_dft_naive(const float2* d_x, float2* d_y, int n) {
  //~begin 3
  constexpr int kBlock = 128;  // threads
  dft_naive<<<(n + kBlock - 1) / kBlock, kBlock>>>(d_x, d_y, n);
  //~end
}
