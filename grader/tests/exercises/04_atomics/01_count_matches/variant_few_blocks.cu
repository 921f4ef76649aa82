// Another right answer: each thread counts its own matches in a register and adds them at once.
#include "01_count_matches.h"

__global__ void count_in_registers(const int* x, int n, int value, int* count) {
  int mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    mine += x[i] == value;
  }
  if (mine > 0) atomicAdd(count, mine);
}

void launch_count_matches(const int* d_x, int n, int value, int* d_count) {
  const int zero = 0;
  cudaMemcpy(d_count, &zero, sizeof zero, cudaMemcpyHostToDevice);
  count_in_registers<<<4, 96>>>(d_x, n, value, d_count);
}
