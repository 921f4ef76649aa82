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
  //~ // TODO(1): Give the kernel an input that it can follow; nothing stays allocated (6 lines).
  //~ scale<<<(n + 255) / 256, 256>>>(h_x, d_y, factor, n);
  //~begin 1
  constexpr int kBlock = 256;  // threads
  const int grid = (n + kBlock - 1) / kBlock;
  const size_t bytes = n * sizeof(float);
  float* d_x = nullptr;
  cudaMalloc(&d_x, bytes);
  cudaMemcpy(d_x, h_x, bytes, cudaMemcpyHostToDevice);
  scale<<<grid, kBlock>>>(d_x, d_y, factor, n);
  cudaFree(d_x);  // waits for the kernel, which still reads it
  //~end
}

float last_element(const float* d_y, int n) {
  //~ // TODO(2): Return the element without following an address of the device (about 3 lines).
  //~ return d_y[n - 1];
  //~begin 2
  float last = 0.0f;
  // d_y + n - 1 computes an address, which the host may do. Only cudaMemcpy follows it.
  cudaMemcpy(&last, d_y + n - 1, sizeof(float), cudaMemcpyDeviceToHost);
  return last;
  //~end
}
