// 01/02 Global index: the numbers first, first + step, first + 2 * step, ... one per thread.
//   out    n ints in device memory, out[i] = first + i * step
//   n      any size, also 0, and rarely a multiple of the block
//   TODOs  3
#include "02_global_index.h"

__global__ void arange(int* out, int first, int step, int n) {
  //~ // TODO(1): Number the threads of the whole grid 0, 1, 2, ... (1 line).
  //~ const int i = 0;
  //~begin 1
  // blockIdx.x blocks of blockDim.x threads come before this block.
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  //~end
  //~ // TODO(2): Send home the threads whose i lies past the end of out (1 to 3 lines).
  //~begin 2
  if (i >= n) {
    return;  // the last block is rarely full
  }
  //~end
  out[i] = first + i * step;
}

void launch_arange(int* d_out, int first, int step, int n) {
  constexpr int kBlock = 128;  // threads
  //~ // TODO(3): A thread for each of the n numbers, and no launch when there are none (5 lines).
  //~ arange<<<1, kBlock>>>(d_out, first, step, n);
  //~begin 3
  if (n == 0) {
    return;  // a grid of 0 blocks is a launch error
  }
  const int grid = (n + kBlock - 1) / kBlock;
  arange<<<grid, kBlock>>>(d_out, first, step, n);
  //~end
}
