// 04/02 Histogram, global: every byte of the input adds 1 to one of 256 counters.
//   values   n bytes in device memory, n >= 0
//   counts   256 unsigned in device memory: counts[v] = how many of the bytes are v
//   TODOs    2
#include "02_histogram_global.h"

__global__ void histogram_global(const uint8_t* values, unsigned* counts, int n) {
  //~ // TODO(1): Every byte has added 1 to its counter, whatever the size of the grid; each is loaded
  //~ // once (about 4 lines).
  //~begin 1
  const int stride = gridDim.x * blockDim.x;  // threads of the whole grid
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    // The address depends on the data. Threads with different bytes do not wait for each other;
    // those with equal bytes are served one after the other.
    atomicAdd(&counts[values[i]], 1u);
  }
  //~end
}

void launch_histogram_global(const uint8_t* d_values, unsigned* d_counts, int n) {
  //~ // TODO(2): All counters begin at 0 in every call. The grid is yours, and need not grow with n
  //~ // (about 8 lines).
  //~begin 2
  cudaMemset(d_counts, 0, kBins * sizeof(unsigned));
  constexpr int kBlock = 256;        // threads
  constexpr int kMostBlocks = 1024;  // more than a card runs at a time; the loop does the rest
  const int wanted = (n + kBlock - 1) / kBlock;
  const int grid = wanted < kMostBlocks ? wanted : kMostBlocks;
  if (grid > 0) {
    histogram_global<<<grid, kBlock>>>(d_values, d_counts, n);
  }
  //~end
}
