// Design: 256 threads, one float at a time, tree in shared memory
#include "03_block_reduce.h"
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

__global__ void __launch_bounds__(kBlock) sum_tiles(const float* x, float* sums, int n) {
  float v = 0.0f;
  const int stride = gridDim.x * kBlock;
  for (long long i = blockIdx.x * kBlock + threadIdx.x; i < n; i += stride) v += x[i];
  v = block_sum(v);
  if (threadIdx.x == 0) sums[blockIdx.x] = v;
}

void launch_block_reduce(const float* d_x, float* d_sum, float* d_partials, int n) {
  int device = 0, multiprocessors = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  const int needed = (n + kBlock - 1) / kBlock, most = 8 * multiprocessors;
  int blocks = needed < most ? needed : most;
  if (blocks > kMostPartials) blocks = kMostPartials;
  if (blocks > 0) sum_tiles<<<blocks, kBlock>>>(d_x, d_partials, n);
  sum_tiles<<<1, kBlock>>>(d_partials, d_sum, blocks);
}
