// Given code of 07/13: copies to shared memory, and sums over the lanes of a warp.
#ifndef CHAPTERS_07_TILED_MATMUL_13_MATMUL_TALL_SKINNY_SUPPORT_H_
#define CHAPTERS_07_TILED_MATMUL_13_MATMUL_TALL_SKINNY_SUPPORT_H_

#include <cuda_runtime.h>

#include "support.h"

// The share of one of kThreads threads in bringing kCols columns of b to shared memory, through
// registers: what is begun between load() and store() is on its way at the same time.
template <int kCols, int kThreads>
class ColumnLoads {
 public:
  static constexpr int kHeld = 24;                            // floats of a thread
  static constexpr int kMostRows = kHeld * kThreads / kCols;  // of b

  // From column `first` on of b (width x n, row-major). Zeros stand for what b does not have.
  __device__ void load(const float* b, int first, int width, int n) {
#pragma unroll
    for (int j = 0; j < kHeld; ++j) {
      const int e = threadIdx.x + j * kThreads, row = e / kCols, col = first + e % kCols;
      held_[j] = row < width && col < n ? b[static_cast<size_t>(row) * n + col] : 0.0f;
    }
  }
  // Each column as one stretch of floats: columns is [kCols][4 * quads].
  __device__ void store(float* columns, int quads) const {
#pragma unroll
    for (int j = 0; j < kHeld; ++j) {
      const int e = threadIdx.x + j * kThreads, row = e / kCols;
      if (row < 4 * quads) columns[e % kCols * 4 * quads + row] = held_[j];
    }
  }

 private:
  float held_[kHeld];
};

// Begins to copy quad i, four neighbours, of the kRows rows of a from `first` on to quads, which is
// [kRows][count]. a is m rows of k floats, of which `width` count. Takes rows that begin anywhere;
// zeros stand for what a does not have.
template <int kRows>
__device__ inline void copy_quads_async(float4* quads, int count, int i, const float* a, int first,
                                        int m, int width, int k) {
#pragma unroll 1  // rare: short code
  for (int r = 0; r < kRows; ++r) {
    const float* row = a + static_cast<size_t>(min(first + r, m - 1)) * k;
    float* to = reinterpret_cast<float*>(quads + r * count + i);
#pragma unroll
    for (int e = 4 * i; e < 4 * i + 4; ++e) {
      const bool inside = first + r < m && e < width;
      copy_or_zero_async<4>(to++, inside ? row + e : row, inside);
    }
  }
}

// How many of kCount sums a lane has left when 2 * kDistance lanes have shared them out.
template <int kCount, int kDistance>
__host__ __device__ constexpr int sums_left() {
  if constexpr (kDistance == 0) {
    return kCount;
  } else {
    return sums_left<(kCount + 1) / 2, kDistance / 2>();
  }
}

// Adds up kCount sums over 2 * kDistance neighbouring lanes, all of them at once: a lane hands half
// of its sums to the lane kDistance away, which hands back the other half, and so on with half the
// distance. So there is one shuffle for each sum, not one for each sum and step. At the end
// sums[j] is complete and was number first + j in the beginning, if that is less than `last`.
// Before: first = 0, last = kCount.
template <int kCount, int kDistance>
__device__ inline void share_out_sums(float* sums, int lane, int& first, int& last) {
  if constexpr (kDistance > 0) {
    constexpr int kHalf = (kCount + 1) / 2;
    const bool upper = lane & kDistance;
#pragma unroll
    for (int i = 0; i < kHalf; ++i) {
      const float high = kHalf + i < kCount ? sums[kHalf + i] : 0.0f;
      const float given = upper ? sums[i] : high;
      sums[i] = (upper ? high : sums[i]) + __shfl_xor_sync(0xFFFFFFFFu, given, kDistance);
    }
    if (upper) {
      first += kHalf;
    } else {
      last = min(last, first + kHalf);
    }
    share_out_sums<kHalf, kDistance / 2>(sums, lane, first, last);
  }
}

#endif  // CHAPTERS_07_TILED_MATMUL_13_MATMUL_TALL_SKINNY_SUPPORT_H_
