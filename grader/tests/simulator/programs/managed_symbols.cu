// Managed memory and variables, constants, device variables, and printf in a kernel.
#include "check.h"

__managed__ int g_total = 5;
__constant__ int c_weights[4];
__device__ int g_calls;

__global__ void accumulate(const int* data, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    atomicAdd(&g_total, data[i] * c_weights[i % 4]);
  }
  if (threadIdx.x == 0) {
    atomicAdd(&g_calls, 1);
    printf("block %d of %d\n", blockIdx.x, gridDim.x);
  }
}

int main() {
  const int weights[4] = {1, 2, 3, 4};
  CHECK_CUDA(cudaMemcpyToSymbol(c_weights, weights, sizeof(weights)));
  int* data = nullptr;
  const int n = 100;
  CHECK_CUDA(cudaMallocManaged(&data, n * sizeof(int)));
  int expected = g_total;
  for (int i = 0; i < n; ++i) {
    data[i] = i;
    expected += i * weights[i % 4];
  }
  accumulate<<<1, 64>>>(data, n);
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK(g_total == expected);
  int calls = 0;
  CHECK_CUDA(cudaMemcpyFromSymbol(&calls, g_calls, sizeof(calls)));
  CHECK(calls == 1);
  CHECK_CUDA(cudaFree(data));
  std::printf("PASSED\n");
  return 0;
}
