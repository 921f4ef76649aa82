// Another right answer: fewer threads than elements, each of which does several (exercise 05).
#include "02_global_index.h"

__global__ void arange_strided(int* out, int first, int step, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    out[i] = first + i * step;
  }
}

void launch_arange(int* d_out, int first, int step, int n) {
  arange_strided<<<2, 128>>>(d_out, first, step, n);
}
