// 04/03 Histogram, shared: each block counts in shared memory and adds its counts to global memory
// once. Counters that threads would wait for exist several times: this is privatisation.
//   values   n bytes in device memory, n >= 0, aligned to 16 bytes
//   counts   256 unsigned in device memory: counts[v] = how many of the bytes are v
//   copies   [kBins][kCopies] unsigned in shared memory; bin b is the sum of its kCopies counters
//   TODOs    3
#include "03_histogram_shared.h"
#include "support.h"

// Starting values: the result is right with any, the speed is not. A bin has kCopies counters.
constexpr int kBlock = 256;  // threads
constexpr int kCopies = 1;

// Counts one byte in shared memory.
__device__ void count_byte(unsigned* copies, unsigned value) {
  // TODO(1): One of the counters of value has grown by 1; with 32 copies, no two lanes of a warp
  // meet in a bank (2 lines).
}

// Counts the four bytes of a word.
__device__ void count_word(unsigned* copies, unsigned word) {
  for (int k = 0; k < 4; ++k) {
    count_byte(copies, word >> (8 * k) & 255u);
  }
}

__global__ void __launch_bounds__(kBlock)
    histogram_private(const uint8_t* values, unsigned* counts, int n) {
  __shared__ unsigned copies[kBins * kCopies];  // [kBins][kCopies]
  // TODO(2): All counters of the block are 0 before the first byte is counted (about 4 lines).

  // Still TODO(1): Every byte has been counted by one thread of the grid and loaded once; 16 at a
  // time is fast (about 20 lines).
  if (threadIdx.x < n) count_byte(copies, values[threadIdx.x]);

  // TODO(3): The counters of each bin, once all threads of the block have counted, are added to
  // counts, with one atomic for each bin (about 8 lines).
}

void launch_histogram_shared(const uint8_t* d_values, unsigned* d_counts, int n) {
  cudaMemsetAsync(d_counts, 0, kBins * sizeof(unsigned));
  // Still TODO(3): Enough blocks to keep the card busy, and no more: each clears and adds up all of
  // its counters (about 7 lines).
}
