// Another right answer: the built-in atomics and fences, and every thread waits for itself.
#include "12_hand_over.h"
#include "12_hand_over_support.h"

__device__ void see(unsigned* counter, unsigned tiles) {
  while (*static_cast<volatile unsigned*>(counter) < tiles) {
  }
  __threadfence();  // reads below are not older than the counter
}

__device__ void say(unsigned* counter) {
  __threadfence();  // what this thread has done is visible before the counter
  __syncthreads();  // and so it is for every thread of the block
  if (threadIdx.x == 0) atomicAdd(counter, 1u);
}

__global__ void fill_and_empty(const float* x, float* y, Ring* rings, int n) {
  Ring& ring = rings[blockIdx.x % gridDim.x / 2];
  const size_t channel = static_cast<size_t>(blockIdx.x / 2) * n;
  const unsigned tiles = (n + kTile - 1) / kTile;
  for (unsigned k = 0; k < tiles; ++k) {
    const int size = min(kTile, n - static_cast<int>(k) * kTile);
    if (blockIdx.x % 2 == 1) {
      if (k >= kSlots) see(&ring.emptied, k - kSlots + 1);
      for (int i = threadIdx.x; i < size; i += blockDim.x) {
        ring.slot[k % kSlots][i] = clipped(x[channel + k * kTile + i]);
      }
      say(&ring.filled);
    } else {
      see(&ring.filled, k + 1);
      for (int i = threadIdx.x; i < size; i += blockDim.x) {
        y[channel + k * kTile + i] = smoothed(ring.slot[k % kSlots], i, size);
      }
      say(&ring.emptied);
    }
  }
}

void launch_hand_over(const float* d_x, float* d_y, Ring* d_rings, int channels, int n) {
  cudaMemset(d_rings, 0, channels * sizeof(Ring));
  if (channels > 0) fill_and_empty<<<2 * channels, 96>>>(d_x, d_y, d_rings, n);
}
