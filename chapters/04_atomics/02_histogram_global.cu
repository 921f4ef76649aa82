// 04/02 Histogram, global: every byte of the input adds 1 to one of 256 counters.
//   values   n bytes in device memory, n >= 0
//   counts   256 unsigned in device memory: counts[v] = how many of the bytes are v
//   Thread i counts bytes i, i + stride, i + 2 * stride, ... (a grid-stride loop, 02/04).
//   TODOs    2
#include "02_histogram_global.h"

__global__ void histogram_global(const uint8_t* values, unsigned* counts, int n) {
  // TODO(1): A grid-stride loop; each byte adds 1 to its counter (about 4 lines).
}

void launch_histogram_global(const uint8_t* d_values, unsigned* d_counts, int n) {
  // TODO(2): Set all kBins counters to 0 on the device (1 line).
  constexpr int kBlock = 256;        // threads
  constexpr int kMostBlocks = 1024;  // more than a card runs at a time; the loop does the rest
  const int wanted = (n + kBlock - 1) / kBlock;
  const int grid = wanted < kMostBlocks ? wanted : kMostBlocks;
  if (grid > 0) {
    histogram_global<<<grid, kBlock>>>(d_values, d_counts, n);
  }
}
