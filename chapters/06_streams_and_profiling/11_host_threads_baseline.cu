// 06/11 Host threads: a kernel that is long and small, so that two of them fit side by side.
#include "11_host_threads.h"

__global__ void long_kernel(float* x, int rounds) {
  float value = x[threadIdx.x];
  for (int i = 0; i < rounds; ++i) {
    value = 0.5f * value + 1.0f;
  }
  x[threadIdx.x] = value;
}

void launch_long(float* d_x, int rounds, cudaStream_t stream) {
  long_kernel<<<1, 32, 0, stream>>>(d_x, rounds);
}
