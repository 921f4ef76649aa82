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
  //~ // TODO(1): Every element has been added to *sum, by an atomic of its own (4 lines).
  //~begin 1
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    atomicAdd(sum, x[i]);
  }
  //~end
}

__global__ void sum_double(const float* x, double* sum, int n) {
  //~ // Still TODO(1): The same in double (4 lines).
  //~begin 1
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    atomicAdd(sum, static_cast<double>(x[i]));
  }
  //~end
}

// x in units of 2^-40, to the nearest integer. At most 2^40 in magnitude, so that the sum of 2^22
// of them fits into 64 bits.
__device__ long long to_units(float x) {
  //~ // TODO(2): What the lines above say (1 line).
  //~ return static_cast<long long>(x);
  //~begin 2
  return __double2ll_rn(x * kUnits);  // kUnits is a power of two: only the exponent changes
  //~end
}

__global__ void sum_fixed(const float* x, long long* total, int n) {
  //~ // TODO(3): *total has grown by the units of every element, with at most one atomic for four
  //~ // elements where there are many (about 6 lines).
  //~begin 3
  long long mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    mine += to_units(x[i]);
  }
  // Two's complement: adding a negative number is adding its bits, without sign.
  atomicAdd(reinterpret_cast<unsigned long long*>(total), static_cast<unsigned long long>(mine));
  //~end
}

double value_of_total(long long total) { return static_cast<double>(total) / kUnits; }

void launch_sum_float(const float* d_x, float* d_sum, int n) {
  //~ // Still TODO(1): The sum begins at 0 in every call, and every element has a thread (4 lines).
  //~begin 1
  constexpr int kBlock = 128;  // threads
  cudaMemset(d_sum, 0, sizeof(float));
  const int grid = (n + kBlock - 1) / kBlock;
  if (grid > 0) sum_float<<<grid, kBlock>>>(d_x, d_sum, n);
  //~end
}

void launch_sum_double(const float* d_x, double* d_sum, int n) {
  //~ // Still TODO(1): The same in double (4 lines).
  //~begin 1
  constexpr int kBlock = 128;  // threads
  cudaMemset(d_sum, 0, sizeof(double));
  const int grid = (n + kBlock - 1) / kBlock;
  if (grid > 0) sum_double<<<grid, kBlock>>>(d_x, d_sum, n);
  //~end
}

void launch_sum_fixed(const float* d_x, long long* d_total, int n) {
  //~ // Still TODO(3): The total begins at 0, and a thread has several elements where there are many
  //~ // (about 5 lines).
  //~begin 3
  constexpr int kBlock = 128;  // threads
  cudaMemset(d_total, 0, sizeof(long long));
  constexpr int kMostBlocks = 16;  // each thread has several elements and makes one atomic
  const int wanted = (n + kBlock - 1) / kBlock;
  const int grid = wanted < kMostBlocks ? wanted : kMostBlocks;
  if (grid > 0) sum_fixed<<<grid, kBlock>>>(d_x, d_total, n);
  //~end
}
