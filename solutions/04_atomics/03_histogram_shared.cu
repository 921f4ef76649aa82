// 04/03 Histogram, shared: each block counts in shared memory and adds its counts to global memory
// once. Counters that threads would wait for exist several times: this is privatisation.
//   values   n bytes in device memory, n >= 0, aligned to 16 bytes
//   counts   256 unsigned in device memory: counts[v] = how many of the bytes are v
//   copies   [kBins][kCopies] unsigned in shared memory; bin b is the sum of its kCopies counters
//   TODOs    3
#include "03_histogram_shared.h"
#include "support.h"

//~ // Starting values: the result is right with any, the speed is not. A bin has kCopies counters.
//~ constexpr int kBlock = 256;  // threads
//~ constexpr int kCopies = 1;
//~begin 1
constexpr int kBlock = 1024;  // threads
constexpr int kLoads = 2;     // 16-byte loads that a thread has under way at a time
// 1 is enough to be right. With 32, lane l has its own counters, all of them in bank l of shared
// memory: the lanes of a warp never wait for each other, whatever the bytes are.
constexpr int kCopies = 32;
//~end

// Counts one byte in shared memory.
__device__ void count_byte(unsigned* copies, unsigned value) {
  //~ // TODO(1): One of the counters of value has grown by 1; with 32 copies, no two lanes of a warp
  //~ // meet in a bank (2 lines).
  //~begin 1
  const unsigned lane = threadIdx.x % 32;
  atomicAdd(&copies[value * kCopies + lane % kCopies], 1u);  // warps share the copies: atomic
  //~end
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
  //~ // TODO(2): All counters of the block are 0 before the first byte is counted (about 4 lines).
  //~begin 2
  for (int i = threadIdx.x; i < kBins * kCopies; i += kBlock) {
    copies[i] = 0;
  }
  __syncthreads();  // no thread counts in a counter that another has still to clear
  //~end

  //~ // Still TODO(1): Every byte has been counted by one thread of the grid and loaded once; 16 at a
  //~ // time is fast (about 20 lines).
  //~ if (threadIdx.x < n) count_byte(copies, values[threadIdx.x]);
  //~begin 1
  const uint4* groups = reinterpret_cast<const uint4*>(values);  // 16 bytes each
  const int whole = n / 16;
  constexpr int kTile = kLoads * kBlock;  // groups that a block reads in one round
  for (int i = blockIdx.x * kTile + threadIdx.x; i < whole; i += gridDim.x * kTile) {
    uint4 group[kLoads];  // all loads first, so that they are under way together
    for (int k = 0; k < kLoads; ++k) {
      if (i + k * kBlock < whole) group[k] = groups[i + k * kBlock];
    }
    for (int k = 0; k < kLoads; ++k) {
      if (i + k * kBlock < whole) {
        count_word(copies, group[k].x);
        count_word(copies, group[k].y);
        count_word(copies, group[k].z);
        count_word(copies, group[k].w);
      }
    }
  }
  const int tail = whole * 16 + blockIdx.x * kBlock + threadIdx.x;  // at most 15 bytes
  if (tail < n) {
    count_byte(copies, values[tail]);
  }
  //~end

  //~ // TODO(3): The counters of each bin, once all threads of the block have counted, are added to
  //~ // counts, with one atomic for each bin (about 8 lines).
  //~begin 3
  __syncthreads();  // the sums below need what every thread has counted
  for (int bin = threadIdx.x; bin < kBins; bin += kBlock) {
    unsigned sum = 0;
    for (int k = 0; k < kCopies; ++k) {
      // Starting at copy 0, all 32 lanes would read the same bank.
      sum += copies[bin * kCopies + (bin + k) % kCopies];
    }
    if (sum > 0) atomicAdd(&counts[bin], sum);
  }
  //~end
}

void launch_histogram_shared(const uint8_t* d_values, unsigned* d_counts, int n) {
  cudaMemsetAsync(d_counts, 0, kBins * sizeof(unsigned));
  //~ // Still TODO(3): Enough blocks to keep the card busy, and no more: each clears and adds up all of
  //~ // its counters (about 7 lines).
  //~begin 3
  constexpr int kBytesPerBlock = 32 * kBlock;  // at least: one round of its loop
  const int wanted = (n + kBytesPerBlock - 1) / kBytesPerBlock;
  const int fitting = blocks_on_card(histogram_private, kBlock);
  const int grid = wanted < fitting ? wanted : fitting;
  if (grid > 0) {
    histogram_private<<<grid, kBlock>>>(d_values, d_counts, n);
  }
  //~end
}
