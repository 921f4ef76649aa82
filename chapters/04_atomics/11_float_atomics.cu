// 04/11 Float atomics: the same elements, another order, other last bits; and a sum without that.
//   Floating-point additions round. (a + b) + c and a + (b + c) may differ in the last bits, and
//   atomics come in whatever order the machine happens to run the threads. Integer additions do not
//   round: their sum is the same in every order.
//   x        n floats in device memory, |x[i]| <= 1, 0 <= n <= 2^22
//   TODOs    3
#include "11_float_atomics.h"

constexpr int kFractionBits = 40;
constexpr double kUnits = 1099511627776.0;  // 2^40 units are 1
static_assert(kUnits == 1ll << kFractionBits, "a unit is 2^-40");

__global__ void sum_float(const float* x, float* sum, int n) {
  // TODO(1): Add this thread's element to *sum; the same below, in double (4 lines each).
}

__global__ void sum_double(const float* x, double* sum, int n) {
  // TODO(1), in double.
}

// x in units of 2^-40, to the nearest integer. At most 2^40 in magnitude, so that the sum of 2^22
// of them fits into 64 bits.
__device__ long long to_units(float x) {
  // TODO(2): A product in double is exact here; __double2ll_rn() rounds to nearest (1 line).
  return static_cast<long long>(x);
}

__global__ void sum_fixed(const float* x, long long* total, int n) {
  // TODO(3): Add up this thread's elements as integers in a grid-stride loop, then add that to
  // *total. atomicAdd knows unsigned long long; the bits of a sum are the same (about 6 lines).
}

double value_of_total(long long total) { return static_cast<double>(total) / kUnits; }

constexpr int kBlock = 128;  // threads

void launch_sum_float(const float* d_x, float* d_sum, int n) {
  cudaMemset(d_sum, 0, sizeof(float));
  const int grid = (n + kBlock - 1) / kBlock;
  if (grid > 0) sum_float<<<grid, kBlock>>>(d_x, d_sum, n);
}

void launch_sum_double(const float* d_x, double* d_sum, int n) {
  cudaMemset(d_sum, 0, sizeof(double));
  const int grid = (n + kBlock - 1) / kBlock;
  if (grid > 0) sum_double<<<grid, kBlock>>>(d_x, d_sum, n);
}

void launch_sum_fixed(const float* d_x, long long* d_total, int n) {
  cudaMemset(d_total, 0, sizeof(long long));
  constexpr int kMostBlocks = 16;  // each thread has several elements and makes one atomic
  const int wanted = (n + kBlock - 1) / kBlock;
  const int grid = wanted < kMostBlocks ? wanted : kMostBlocks;
  if (grid > 0) sum_fixed<<<grid, kBlock>>>(d_x, d_total, n);
}
