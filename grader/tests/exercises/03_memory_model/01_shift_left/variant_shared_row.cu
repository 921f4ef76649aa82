// Another right answer: whole warps, the row passes through shared memory.
#include "01_shift_left.h"

__global__ void shift_left_shared(float* x, int cols) {
  __shared__ float row[1024];  // [column]
  float* const mine = x + blockIdx.x * static_cast<size_t>(cols);
  const int c = threadIdx.x;
  if (c < cols) row[c] = mine[c];
  __syncthreads();  // row is filled, and x has been read
  if (c < cols - 1) mine[c] = row[c + 1];
}

void launch_shift_left(float* d_x, int rows, int cols) {
  shift_left_shared<<<rows, (cols + 31) / 32 * 32>>>(d_x, cols);
}
