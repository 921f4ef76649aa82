// 04/04 Atomic max of floats: CUDA has atomicMax for integers only. Build it from atomicCAS.
//   atomicCAS(address, expected, desired) stores desired if *address is expected, and returns what
//   *address was. It compares bits: __float_as_int() and __int_as_float() reinterpret them.
//   The maximum with a NaN is a NaN, as in PyTorch: a broken value must not disappear.
//   TODOs    2
#include "04_atomic_max_float.h"

// True if the cell must change: candidate is larger, or the first NaN.
__device__ bool replaces(float candidate, float current) {
  //~ // TODO(1): What the line above says. Every comparison with a NaN is false (1 line).
  //~ return candidate > current;
  //~begin 1
  return !(candidate <= current) && current == current;  // the latter: current is no NaN
  //~end
}

// *address = max(*address, value) as one step; returns what *address was before that step.
__device__ float atomic_max_float(float* address, float value) {
  //~ // TODO(2): What the line above says, and no atomic at all where value does not replace what was
  //~ // read (about 8 lines).
  //~ return *address + 0.0f * value;
  //~begin 2
  int* bits = reinterpret_cast<int*>(address);
  int seen = *bits;  // a first guess; another thread may have changed it since
  while (replaces(value, __int_as_float(seen))) {
    const int before = atomicCAS(bits, seen, __float_as_int(value));
    // Bits are compared, as atomicCAS does: a NaN would not be equal to itself as a float.
    if (before == seen) break;
    seen = before;
  }
  return __int_as_float(seen);
  //~end
}

__global__ void max_per_cell(const int* cell, const float* value, float* cells, float* old, int n) {
  //~ // Still TODO(2): Every value has been offered to its cell, and old says what it met (4 lines).
  //~begin 2
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    old[i] = atomic_max_float(&cells[cell[i]], value[i]);
  }
  //~end
}

void launch_max_per_cell(const int* d_cell, const float* d_value, float* d_cells, float* d_old,
                         int n) {
  //~ // Still TODO(2): A thread for every value (about 5 lines).
  //~begin 2
  constexpr int kBlock = 128;  // threads
  const int grid = (n + kBlock - 1) / kBlock;
  if (grid > 0) {
    max_per_cell<<<grid, kBlock>>>(d_cell, d_value, d_cells, d_old, n);
  }
  //~end
}
