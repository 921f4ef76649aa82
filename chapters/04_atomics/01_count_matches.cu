// 04/01 Count matches: many threads add to one counter.
//   x        n ints in device memory, n >= 0; each thread looks at one of them
//   count    one int in device memory: how many of x are equal to value
//   `*count = *count + 1` is three steps: load, add, store. Two threads that both load 7 both
//   store 8, and one match is lost. An atomic operation does the three as one.
//   TODOs    2
#include "01_count_matches.h"

__global__ void count_matches_atomic(const int* x, int n, int value, int* count) {
  // TODO(1): If this thread's element exists and matches, add 1 to *count (4 lines).
}

void launch_count_matches(const int* d_x, int n, int value, int* d_count) {
  // TODO(2): Set *d_count to 0 on the device: nobody has written it yet (1 line).
  constexpr int kBlock = 256;  // threads
  const int grid = (n + kBlock - 1) / kBlock;
  if (grid > 0) {
    count_matches_atomic<<<grid, kBlock>>>(d_x, n, value, d_count);
  }
}
