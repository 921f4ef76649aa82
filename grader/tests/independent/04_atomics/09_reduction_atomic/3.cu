// Design: 256 threads, one float at a time, tree in shared memory
#include "09_reduction_atomic.h"
#include "support.h"

constexpr int kBlock = 256;

__device__ float block_sum(float v) {
  __shared__ float sums[kBlock];
  sums[threadIdx.x] = v;
  for (int step = kBlock / 2; step > 0; step /= 2) {
    __syncthreads();
    if (threadIdx.x < step) sums[threadIdx.x] += sums[threadIdx.x + step];
  }
  __syncthreads();
  return sums[0];
}

__global__ void __launch_bounds__(kBlock) reduce_atomic(const float* x, float* sum, int n) {
  float v = 0.0f;
  const int stride = gridDim.x * kBlock;
  for (long long i = blockIdx.x * kBlock + threadIdx.x; i < n; i += stride) v += x[i];
  v = block_sum(v);
  if (threadIdx.x == 0) atomicAdd(sum, v);
}

void launch_reduction_atomic(const float* d_x, float* d_sum, int n) {
  cudaMemsetAsync(d_sum, 0, sizeof(float));
  if (n == 0) return;
  int device = 0, multiprocessors = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  const int needed = (n + kBlock - 1) / kBlock, most = 8 * multiprocessors;
  reduce_atomic<<<needed < most ? needed : most, kBlock>>>(d_x, d_sum, n);
}
