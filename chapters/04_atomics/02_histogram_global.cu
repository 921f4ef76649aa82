// 04/02 Histogram, global: every byte of the input adds 1 to one of 256 counters.
//   values   n bytes in device memory, n >= 0
//   counts   256 unsigned in device memory: counts[v] = how many of the bytes are v
//   TODOs    2
#include "02_histogram_global.h"

__global__ void histogram_global(const uint8_t* values, unsigned* counts, int n) {
  // TODO(1): Every byte has added 1 to its counter, whatever the size of the grid; each is loaded
  // once (about 4 lines).
}

void launch_histogram_global(const uint8_t* d_values, unsigned* d_counts, int n) {
  // TODO(2): All counters begin at 0 in every call. The grid is yours, and need not grow with n
  // (about 8 lines).
}
