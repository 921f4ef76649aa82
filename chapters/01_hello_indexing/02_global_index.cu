// 01/02 Global index: the numbers first, first + step, first + 2 * step, ... one per thread.
//   out    n ints in device memory, out[i] = first + i * step
//   n      any size, also 0, and rarely a multiple of the block
//   TODOs  3
#include "02_global_index.h"

__global__ void arange(int* out, int first, int step, int n) {
  // TODO(1): Number the threads of the whole grid 0, 1, 2, ... (1 line).
  const int i = 0;
  // TODO(2): Send home the threads whose i lies past the end of out (1 to 3 lines).
  out[i] = first + i * step;
}

void launch_arange(int* d_out, int first, int step, int n) {
  constexpr int kBlock = 128;  // threads
  // TODO(3): A thread for each of the n numbers, and no launch when there are none (5 lines).
  arange<<<1, kBlock>>>(d_out, first, step, n);
}
