// 01/06 Which memory: two functions follow a pointer into the wrong memory. Fix them.
//   h_ points to host memory, d_ points to device memory. Kernels may follow only device pointers,
//   the host only host pointers; cudaMemcpy carries values from one to the other.
//   x, y   n floats, n from 1 to 2^28; y[i] = factor * x[i]
//   Exercise 02/03 adds the error checks that these calls deserve.
//   TODOs  2
#include "06_which_memory.h"

__global__ void scale(const float* x, float* y, float factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = factor * x[i];
  }
}

void scale_on_device(const float* h_x, float* d_y, float factor, int n) {
  // TODO(1): Give the kernel an input that it can follow; nothing stays allocated (6 lines).
  scale<<<(n + 255) / 256, 256>>>(h_x, d_y, factor, n);
}

float last_element(const float* d_y, int n) {
  // TODO(2): Return the element without following an address of the device (about 3 lines).
  return d_y[n - 1];
}
