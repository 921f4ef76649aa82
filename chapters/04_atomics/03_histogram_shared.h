// 04/03 Histogram, shared: what the test calls.
#ifndef CHAPTERS_04_ATOMICS_03_HISTOGRAM_SHARED_H_
#define CHAPTERS_04_ATOMICS_03_HISTOGRAM_SHARED_H_

#include <cstdint>

#include "02_histogram_global.h"  // kBins

// d_counts[v] = number of bytes of d_values that are v.
//   d_values  n bytes in device memory, 0 <= n <= 2^30, aligned to 16 bytes
//   d_counts  kBins unsigned in device memory; hold nothing of use before the call
void launch_histogram_shared(const uint8_t* d_values, unsigned* d_counts, int n);

#endif  // CHAPTERS_04_ATOMICS_03_HISTOGRAM_SHARED_H_
