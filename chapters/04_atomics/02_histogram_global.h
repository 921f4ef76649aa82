// 04/02 Histogram, global: what the test calls.
#ifndef CHAPTERS_04_ATOMICS_02_HISTOGRAM_GLOBAL_H_
#define CHAPTERS_04_ATOMICS_02_HISTOGRAM_GLOBAL_H_

#include <cstdint>

constexpr int kBins = 256;  // one counter for each value of a byte

// d_counts[v] = number of bytes of d_values that are v.
//   d_values  n bytes in device memory, 0 <= n <= 2^30; they begin at any address
//   d_counts  kBins unsigned in device memory; hold nothing of use before the call
void launch_histogram_global(const uint8_t* d_values, unsigned* d_counts, int n);

#endif  // CHAPTERS_04_ATOMICS_02_HISTOGRAM_GLOBAL_H_
