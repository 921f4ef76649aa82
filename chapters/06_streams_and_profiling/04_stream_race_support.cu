// 06/04 Stream race: the kernel, one thread per element.
#include "04_stream_race.h"

static __global__ void signed_square(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = x[i] * fabsf(x[i]);
  }
}

cudaError_t launch_signed_square(const float* d_x, float* d_y, int n, cudaStream_t stream) {
  constexpr int kBlock = 128;  // threads
  signed_square<<<(n + kBlock - 1) / kBlock, kBlock, 0, stream>>>(d_x, d_y, n);
  return cudaGetLastError();
}
