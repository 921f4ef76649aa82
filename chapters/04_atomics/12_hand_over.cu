// 04/12 Hand over: two blocks work on one channel at the same time. The first clips readings and
// puts them into a ring of four tiles, the second takes them out and smooths them.
//   x, y   channels x n floats in device memory; rings: one for each channel, see the header
//   Ordered by atomics alone: cuda::atomic_ref makes an atomic of any word, for the threads of a
//   chosen scope, and its operations take a memory order. The built-ins and fences do as well.
//   TODOs  3
#include <cuda/atomic>

#include "12_hand_over.h"
#include "12_hand_over_support.h"

// TODO(1): All threads of the block call it. Whoever sees `tiles` in *counter, in any block, sees
// what these threads have written before, and no read of theirs before the call comes later
// (about 5 lines).
__device__ void announce(unsigned* counter, unsigned tiles) {}

// TODO(2): All threads of the block call it. It returns when *counter is at least `tiles`, and what
// was done before that was announced is visible to all of them (about 7 lines).
__device__ void wait_for(unsigned* counter, unsigned tiles) {}

__global__ void clip_and_smooth(const float* x, float* y, Ring* rings, int n) {
  // TODO(3): y has all of its readings, each tile clipped by one block and smoothed by the other.
  // No tile is read before it is filled, none is overwritten before it has been read (about 20
  // lines).
}

void launch_hand_over(const float* d_x, float* d_y, Ring* d_rings, int channels, int n) {
  // Still TODO(3): The counters begin at 0 in every call; two blocks for each channel (about 4
  // lines).
}
