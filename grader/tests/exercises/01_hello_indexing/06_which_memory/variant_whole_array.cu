// Another right answer: an explicit wait before the memory is freed, the direction left to the
// runtime, and the whole array brought to the host.
#include "06_which_memory.h"

__global__ void scale_each(const float* x, float* y, float factor, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    y[i] = x[i] * factor;
  }
}

void scale_on_device(const float* h_x, float* d_y, float factor, int n) {
  // The output may hold the input for a moment: every thread replaces its own elements.
  cudaMemcpy(d_y, h_x, n * sizeof(float), cudaMemcpyDefault);
  scale_each<<<4, 128>>>(d_y, d_y, factor, n);
  cudaDeviceSynchronize();
}

float last_element(const float* d_y, int n) {
  float* h_y = new float[n];
  cudaMemcpy(h_y, d_y, n * sizeof(float), cudaMemcpyDefault);
  const float last = h_y[n - 1];
  delete[] h_y;
  return last;
}
