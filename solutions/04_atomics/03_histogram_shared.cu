// 04/03 Histogram, shared: each block counts in shared memory and adds its counts to global memory
// once. Counters that threads would wait for exist several times: this is privatisation.
//   values   n bytes in device memory, n >= 0, aligned to 16 bytes
//   counts   256 unsigned in device memory: counts[v] = how many of the bytes are v
//   copies   [kBins][kCopies] unsigned in shared memory; bin b is the sum of its kCopies counters
//   TODOs    3
#include "03_histogram_shared.h"
#include "support.h"

constexpr int kBlock = 1024;  // threads
constexpr int kLoads = 2;     // 16-byte loads that a thread has under way at a time
// 1 is enough to be right. With 32, lane l has its own counters, all of them in bank l of shared
// memory: the lanes of a warp never wait for each other, whatever the bytes are.
constexpr int kCopies = 32;

// Counts one byte in shared memory.
__device__ void count_byte(unsigned* copies, unsigned value) {
  //~ // TODO(1): Add 1 to the counter of value that belongs to this thread's lane (2 lines).
  //~begin 1
  const unsigned lane = threadIdx.x % 32;
  atomicAdd(&copies[value * kCopies + lane % kCopies], 1u);  // warps share the copies: atomic
  //~end
}

__device__ void count_word(unsigned* copies, unsigned word) {
  for (int k = 0; k < 4; ++k) {
    count_byte(copies, word >> (8 * k) & 255u);
  }
}

__global__ void __launch_bounds__(kBlock)
    histogram_private(const uint8_t* values, unsigned* counts, int n) {
  __shared__ unsigned copies[kBins * kCopies];  // [kBins][kCopies], 32 KiB
  //~ // TODO(2): Set all counters of the block to 0; nobody may count before that (4 lines).
  //~begin 2
  for (int i = threadIdx.x; i < kBins * kCopies; i += kBlock) {
    copies[i] = 0;
  }
  __syncthreads();  // no thread counts in a counter that another has still to clear
  //~end

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

  //~ // TODO(3): When the whole block has counted, add up the copies of each bin and add the sum to
  //~ // counts, with one atomic per bin (about 8 lines).
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
  constexpr int kBytesPerRound = 16 * kLoads * kBlock;
  const int wanted = (n + kBytesPerRound - 1) / kBytesPerRound;
  const int fitting = blocks_on_card(histogram_private, kBlock);
  const int grid = wanted < fitting ? wanted : fitting;
  if (grid > 0) {
    histogram_private<<<grid, kBlock>>>(d_values, d_counts, n);
  }
}
