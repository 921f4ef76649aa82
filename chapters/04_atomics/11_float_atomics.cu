// 04/11 Float atomics: the same elements, another order, other last bits; and a sum without that.
//   Floating-point additions round. (a + b) + c and a + (b + c) may differ in the last bits, and
//   atomics come in whatever order the machine happens to run the threads. Integer additions do not
//   round: their sum is the same in every order. atomicAdd has no form for long long, but one for
//   unsigned long long, and the bits of a sum are the same in both.
//   x        n floats in device memory, |x[i]| <= 1, 0 <= n <= 2^22
//   TODOs    3
#include "11_float_atomics.h"

constexpr int kFractionBits = 40;
constexpr double kUnits = 1099511627776.0;  // 2^40 units are 1
static_assert(kUnits == 1ll << kFractionBits, "a unit is 2^-40");

__global__ void sum_float(const float* x, float* sum, int n) {
  // TODO(1): Every element has been added to *sum, by an atomic of its own (4 lines).
}

__global__ void sum_double(const float* x, double* sum, int n) {
  // Still TODO(1): The same in double (4 lines).
}

// x in units of 2^-40, to the nearest integer. At most 2^40 in magnitude, so that the sum of 2^22
// of them fits into 64 bits.
__device__ long long to_units(float x) {
  // TODO(2): What the lines above say (1 line).
  return static_cast<long long>(x);
}

__global__ void sum_fixed(const float* x, long long* total, int n) {
  // TODO(3): *total has grown by the units of every element, with at most one atomic for four
  // elements where there are many (about 6 lines).
}

double value_of_total(long long total) { return static_cast<double>(total) / kUnits; }

void launch_sum_float(const float* d_x, float* d_sum, int n) {
  // Still TODO(1): The sum begins at 0 in every call, and every element has a thread (4 lines).
}

void launch_sum_double(const float* d_x, double* d_sum, int n) {
  // Still TODO(1): The same in double (4 lines).
}

void launch_sum_fixed(const float* d_x, long long* d_total, int n) {
  // Still TODO(3): The total begins at 0, and a thread has several elements where there are many
  // (about 5 lines).
}
