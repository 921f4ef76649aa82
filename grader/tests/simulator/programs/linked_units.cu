// Device code in two translation units (nvcc -rdc=true): functions, variables and constants that one
// defines and the other uses, and names that both keep to themselves.
#include "linked_units.h"

#include "check.h"

__device__ int offset = 5;

static __device__ int twisted(int x) { return x + 1; }  // the other unit's is another function
__device__ int (*const volatile twist)(int) = twisted;  // called by address, so it stays

__global__ void scale(int* data) {
  const int i = threadIdx.x;
  data[i] = scaled(i) + offset + 1000 * twist(i);
}

int main() {
  const int factors_now[4] = {1, 2, 3, 4};
  set_factors(factors_now);
  int* d_data = nullptr;
  CHECK_CUDA(cudaMalloc(&d_data, 32 * sizeof(int)));
  scale<<<1, 32>>>(d_data);
  launch_add_offset(d_data);
  int data[32];
  CHECK_CUDA(cudaMemcpy(data, d_data, sizeof data, cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaFree(d_data));
  for (int i = 0; i < 32; ++i) {
    CHECK(data[i] == 2 * i * factors_now[i % 4] + 5 + 1000 * (i + 1) + 5);
  }
  return 0;
}
