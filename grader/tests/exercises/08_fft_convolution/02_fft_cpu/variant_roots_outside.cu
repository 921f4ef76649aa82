// The recursion ends at two points; bits are reversed by adding from the top; the loops go over
// roots outside, so that each root is computed once per stage.
#include <utility>

#include "02_fft_cpu.h"
#include "support.h"

static void halves(const float2* x, float2* y, int n, int stride, const Product& times) {
  if (n == 1) {
    y[0] = x[0];
  } else if (n == 2) {
    y[0] = x[0] + x[stride];
    y[1] = x[0] - x[stride];
  } else {
    halves(x, y, n / 2, 2 * stride, times);
    halves(x + stride, y + n / 2, n / 2, 2 * stride, times);
    for (int k = 0; k < n / 2; ++k) {
      const float2 odd = times(turn(static_cast<float>(k) / n), y[k + n / 2]);
      y[k + n / 2] = y[k] - odd;
      y[k] = y[k] + odd;
    }
  }
}

void fft_recursive(const float2* x, float2* y, int n, const Product& times) {
  halves(x, y, n, 1, times);
}

int bit_reversed(int i, int bits) {
  int reversed = 0;
  for (int bit = 0; bit < bits; ++bit) {
    if (i & 1 << bit) reversed += 1 << (bits - 1 - bit);
  }
  return reversed;
}

void fft_iterative(float2* points, int n, const Product& times) {
  int bits = 0;
  while (1 << bits < n) ++bits;
  for (int i = 0; i < n; ++i) {
    if (bit_reversed(i, bits) > i) std::swap(points[i], points[bit_reversed(i, bits)]);
  }
  for (int done = 1; done < n; done *= 2) {
    for (int k = 0; k < done; ++k) {
      const float2 w = turn(static_cast<float>(k) / (2 * done));
      for (int at = k; at < n; at += 2 * done) {
        const float2 odd = times(points[at + done], w);
        points[at + done] = points[at] - odd;
        points[at] = points[at] + odd;
      }
    }
  }
}
