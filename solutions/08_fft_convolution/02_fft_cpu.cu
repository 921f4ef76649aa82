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
  //~ // TODO(1): y is the transform of these n values of x, with n / 2 products for each halving of n
  //~ // (about 12 lines).
  //~begin 1
  if (n == 1) {
    y[0] = x[0];
    return;
  }
  const int half = n / 2;
  recurse(x, y, half, 2 * stride, times);
  recurse(x + stride, y + half, half, 2 * stride, times);
  for (int k = 0; k < half; ++k) {
    const float2 even = y[k], odd = times(turn(static_cast<float>(k) / n), y[k + half]);
    y[k] = even + odd;
    y[k + half] = even - odd;
  }
  //~end
}

void fft_recursive(const float2* x, float2* y, int n, const Product& times) {
  recurse(x, y, n, 1, times);
}

int bit_reversed(int i, int bits) {
  int reversed = 0;
  //~ // TODO(2): Bit 0 of i is bit `bits` - 1 of reversed, and so on (about 4 lines).
  //~ reversed = bits > 0 ? i : 0;
  //~begin 2
  for (int bit = 0; bit < bits; ++bit) {
    reversed = reversed << 1 | (i & 1);
    i >>= 1;
  }
  //~end
  return reversed;
}

void fft_iterative(float2* points, int n, const Product& times) {
  //~ // TODO(3): The points are replaced by their transform, in place and without recursion: first
  //~ // the order that recursion would have brought them into, then a stage for each halving, with
  //~ // n / 2 products (about 16 lines).
  //~ if (n > 1) points[0] = times(points[0], turn(0.0f));
  //~begin 3
  int bits = 0;
  while (1 << bits < n) ++bits;
  for (int i = 0; i < n; ++i) {
    const int other = bit_reversed(i, bits);
    if (i < other) std::swap(points[i], points[other]);  // each pair once
  }
  for (int half = 1; half < n; half *= 2) {
    for (int first = 0; first < n; first += 2 * half) {
      for (int k = first; k < first + half; ++k) {
        const float2 w = turn(static_cast<float>(k - first) / (2 * half));
        const float2 even = points[k], odd = times(w, points[k + half]);
        points[k] = even + odd;
        points[k + half] = even - odd;
      }
    }
  }
  //~end
}
