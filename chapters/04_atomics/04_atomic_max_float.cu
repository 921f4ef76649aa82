// 04/04 Atomic max of floats: CUDA has atomicMax for integers only. Build it from atomicCAS.
//   atomicCAS(address, expected, desired) stores desired if *address is expected, and returns what
//   *address was. It compares bits: __float_as_int() and __int_as_float() reinterpret them.
//   The maximum with a NaN is a NaN, as in PyTorch: a broken value must not disappear.
//   TODOs    2
#include "04_atomic_max_float.h"

// True if the cell must change: candidate is larger, or the first NaN.
__device__ bool replaces(float candidate, float current) {
  // TODO(1): What the line above says. Every comparison with a NaN is false (1 line).
  return candidate > current;
}

// *address = max(*address, value) as one step; returns what *address was before that step.
__device__ float atomic_max_float(float* address, float value) {
  // TODO(2): What the line above says, and no atomic at all where value does not replace what was
  // read (about 8 lines).
  return *address + 0.0f * value;
}

__global__ void max_per_cell(const int* cell, const float* value, float* cells, float* old, int n) {
  // Still TODO(2): Every value has been offered to its cell, and old says what it met (4 lines).
}

void launch_max_per_cell(const int* d_cell, const float* d_value, float* d_cells, float* d_old,
                         int n) {
  // Still TODO(2): A thread for every value (about 5 lines).
}
