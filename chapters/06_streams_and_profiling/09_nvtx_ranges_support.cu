// 06/09 NVTX ranges: the kernel, one thread per element.
#include "09_nvtx_ranges.h"

static __global__ void triple(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    x[i] *= 3.0f;
  }
}

void launch_triple(float* d_x, int n, cudaStream_t stream) {
  constexpr int kBlock = 128;  // threads
  triple<<<(n + kBlock - 1) / kBlock, kBlock, 0, stream>>>(d_x, n);
}
