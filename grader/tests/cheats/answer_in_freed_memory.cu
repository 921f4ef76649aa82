// Hopes that the answer lies in memory that was freed a moment ago.
//
// fails: expected|nothing has written|never written|initcheck|uninitialised
#include "05_vectorized_add.h"

__global__ void copy(const float* from, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = from[i];
}

void launch_vectorized_add(const float*, const float*, float* d_c, int n) {
  if (n <= 0) return;
  float* found = nullptr;
  cudaMalloc(&found, n * sizeof(float));
  copy<<<(n + 255) / 256, 256>>>(found, d_c, n);
  cudaDeviceSynchronize();
  cudaFree(found);
}
