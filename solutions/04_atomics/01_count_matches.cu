// 04/01 Count matches: many threads add to one counter.
//   x        n ints in device memory, n >= 0
//   count    one int in device memory: how many of x are equal to value
//   `*count = *count + 1` is three steps: load, add, store. Two threads that both load 7 both
//   store 8, and one match is lost. An atomic operation does the three as one.
//   TODOs    2
#include "01_count_matches.h"

__global__ void count_matches_atomic(const int* x, int n, int value, int* count) {
  //~ // TODO(1): *count grows by 1 for every element that is equal to value, and no thread without a
  //~ // match touches it (about 4 lines).
  //~begin 1
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  // Only threads with a match: an addition of 0 would wait for its turn at *count as well.
  if (i < n && x[i] == value) {
    atomicAdd(count, 1);
  }
  //~end
}

void launch_count_matches(const int* d_x, int n, int value, int* d_count) {
  //~ // TODO(2): The count begins at 0 in every call, and every element has a thread (about 6 lines).
  //~begin 2
  cudaMemset(d_count, 0, sizeof(int));
  constexpr int kBlock = 256;  // threads
  const int grid = (n + kBlock - 1) / kBlock;
  if (grid > 0) {
    count_matches_atomic<<<grid, kBlock>>>(d_x, n, value, d_count);
  }
  //~end
}
