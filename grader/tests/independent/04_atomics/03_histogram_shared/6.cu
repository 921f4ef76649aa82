// Design: 8 counters per bin, 16 bytes per load
#include "03_histogram_shared.h"
#include "support.h"

constexpr int kBlock = 256, kCopies = 8;

__device__ void count(unsigned* copies, unsigned v) {
  atomicAdd(&copies[v * kCopies + threadIdx.x % kCopies], 1u);
}

__global__ void __launch_bounds__(kBlock)
    histogram_private(const uint8_t* values, unsigned* counts, int n) {
  __shared__ unsigned copies[kBins * kCopies];  // [kBins][kCopies]
  for (int i = threadIdx.x; i < kBins * kCopies; i += kBlock) copies[i] = 0;
  __syncthreads();
  const int stride = gridDim.x * kBlock, first = blockIdx.x * kBlock + threadIdx.x;
  const int words = n / 16;
  const uint4* const from = reinterpret_cast<const uint4*>(values);
  for (int i = first; i < words; i += stride) {
    const uint4 four = from[i];
    const unsigned parts[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int j = 0; j < 4; ++j) {
#pragma unroll
      for (int b = 0; b < 32; b += 8) count(copies, parts[j] >> b & 255u);
    }
  }
  if (first < n % 16) count(copies, values[16 * words + first]);
  __syncthreads();
  for (int bin = threadIdx.x; bin < kBins; bin += kBlock) {
    unsigned sum = 0;
    for (int j = 0; j < kCopies; ++j) sum += copies[bin * kCopies + (j + bin) % kCopies];
    if (sum > 0) atomicAdd(&counts[bin], sum);
  }
}

void launch_histogram_shared(const uint8_t* d_values, unsigned* d_counts, int n) {
  cudaMemsetAsync(d_counts, 0, kBins * sizeof(unsigned));
  if (n == 0) return;
  const int most = blocks_on_card(histogram_private, kBlock);
  const int needed = (n + 16 * kBlock - 1) / (16 * kBlock);
  histogram_private<<<needed < most ? needed : most, kBlock>>>(d_values, d_counts, n);
}
