// 08/02 FFT, CPU: n log n operations instead of n^2, first as recursion, then as loops in place.
//   x, y, points   n complex values in host memory, n a power of two from 1
//   The even values and the odd values have transforms e and o of n / 2 points each. Then
//   y[k] = e[k] + turn(k / n) o[k], and y[k + n / 2] = e[k] - turn(k / n) o[k]: a butterfly.
//   Every product of complex numbers goes through `times`, which counts. + and - and turn() are in
//   support.h.
//   TODOs  3
#include <utility>

#include "02_fft_cpu.h"
#include "support.h"

// The transform of x[0], x[stride], x[2 stride], ...: n of them.
static void recurse(const float2* x, float2* y, int n, int stride, const Product& times) {
  // TODO(1): One value is its own transform. Else transform the even values into the first half
  // of y and the odd values into the second, and join them by n / 2 butterflies (about 12 lines).
}

void fft_recursive(const float2* x, float2* y, int n, const Product& times) {
  recurse(x, y, n, 1, times);
}

int bit_reversed(int i, int bits) {
  int reversed = 0;
  // TODO(2): Move the bits over, one by one: the lowest of i becomes the lowest of reversed, and
  // is pushed up by those that follow (about 4 lines).
  reversed = bits > 0 ? i : 0;
  return reversed;
}

void fft_iterative(float2* points, int n, const Product& times) {
  int bits = 0;
  while (1 << bits < n) ++bits;
  for (int i = 0; i < n; ++i) {
    const int other = bit_reversed(i, bits);
    if (i < other) std::swap(points[i], points[other]);  // each pair once
  }
  for (int half = 1; half < n; half *= 2) {
    // TODO(3): Each 2 half neighbouring points hold two finished transforms of `half` points.
    // Join them by `half` butterflies, in place (about 8 lines).
    points[0] = times(points[0], turn(0.0f));
  }
}
