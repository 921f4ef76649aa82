// 04/12 Hand over: two blocks work on one channel at the same time. The first clips readings and
// puts them into a ring of four tiles, the second takes them out and smooths them.
//   x, y   channels x n floats in device memory; rings: one for each channel, see the header
//   Ordered by atomics alone: cuda::atomic_ref makes an atomic of any word, for the threads of a
//   chosen scope, and its operations take a memory order. The built-ins and fences do as well.
//   TODOs  3
#include <cuda/atomic>

#include "12_hand_over.h"
#include "12_hand_over_support.h"

//~ // TODO(1): All threads of the block call it. Whoever sees `tiles` in *counter, in any block, sees
//~ // what these threads have written before, and no read of theirs before the call comes later
//~ // (about 5 lines).
//~ __device__ void announce(unsigned* counter, unsigned tiles) {}
//~begin 1
using Counter = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

// All threads of the block call it. Whoever sees `tiles` in *counter sees what they have done.
__device__ void announce(unsigned* counter, unsigned tiles) {
  __syncthreads();  // all threads have done their part before one of them speaks for the block
  if (threadIdx.x == 0) Counter(*counter).store(tiles, cuda::memory_order_release);
}
//~end

//~ // TODO(2): All threads of the block call it. It returns when *counter is at least `tiles`, and what
//~ // was done before that was announced is visible to all of them (about 7 lines).
//~ __device__ void wait_for(unsigned* counter, unsigned tiles) {}
//~begin 2
// All threads of the block call it. Returns when *counter is at least `tiles`.
__device__ void wait_for(unsigned* counter, unsigned tiles) {
  if (threadIdx.x == 0) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> seen(*counter);
    while (seen.load(cuda::memory_order_acquire) < tiles) {
    }
  }
  __syncthreads();  // nobody goes on before thread 0 has seen it
}
//~end

__global__ void clip_and_smooth(const float* x, float* y, Ring* rings, int n) {
  //~ // TODO(3): y has all of its readings, each tile clipped by one block and smoothed by the other.
  //~ // No tile is read before it is filled, none is overwritten before it has been read (about 20
  //~ // lines).
  //~begin 3
  const int channel = blockIdx.x / 2;
  Ring* ring = &rings[channel];
  x += static_cast<size_t>(channel) * n;
  y += static_cast<size_t>(channel) * n;
  for (int k = 0; k * kTile < n; ++k) {
    float* slot = ring->slot[k % kSlots];
    const int size = min(kTile, n - k * kTile);
    const int i = threadIdx.x, at = k * kTile + i;
    if (blockIdx.x % 2 == 0) {
      // The slot held tile k - kSlots, which must have been read.
      if (k >= kSlots) wait_for(&ring->emptied, k - kSlots + 1);
      if (i < size) slot[i] = clipped(x[at]);
      announce(&ring->filled, k + 1);
    } else {
      wait_for(&ring->filled, k + 1);
      if (i < size) y[at] = smoothed(slot, i, size);
      announce(&ring->emptied, k + 1);
    }
  }
  //~end
}

void launch_hand_over(const float* d_x, float* d_y, Ring* d_rings, int channels, int n) {
  //~ // Still TODO(3): The counters begin at 0 in every call; two blocks for each channel (about 4
  //~ // lines).
  //~begin 3
  if (channels == 0) return;
  cudaMemsetAsync(d_rings, 0, channels * sizeof(Ring));
  clip_and_smooth<<<2 * channels, kTile>>>(d_x, d_y, d_rings, n);
  //~end
}
