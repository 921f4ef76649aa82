// Given code of 07/11: what a block of 07/09 does, for a tile of any shape.
#ifndef CHAPTERS_07_TILED_MATMUL_11_MATMUL_5120_SUPPORT_H_
#define CHAPTERS_07_TILED_MATMUL_11_MATMUL_5120_SUPPORT_H_

#include <cuda_runtime.h>

#include "support.h"

// What a thread multiplies in one step of k, as in 09.
template <class S>
struct Fragments {
  float4 a[S::kRows / 4], b[S::kCols / 4];

  __device__ void load(const float* row_of_a, const float* row_of_b) {
#pragma unroll
    for (int i = 0; i < S::kRows / 4; ++i) {
      a[i] = *reinterpret_cast<const float4*>(row_of_a + 4 * S::kLanesY * i);
    }
#pragma unroll
    for (int j = 0; j < S::kCols / 4; ++j) {
      b[j] = *reinterpret_cast<const float4*>(row_of_b + 4 * S::kLanesX * j);
    }
  }
  template <class Multiply>
  __device__ void multiply(float (&sums)[S::kRows][S::kCols], const Multiply& product) const {
    const float* x = reinterpret_cast<const float*>(a);
    const float* y = reinterpret_cast<const float*>(b);
#pragma unroll
    for (int i = 0; i < S::kRows; ++i) {
#pragma unroll
      for (int j = 0; j < S::kCols; ++j) sums[i][j] += product(x[i], y[j]);
    }
  }
};

// Makes the tile of c that begins at (first_row, first_col), in steps of kStep along k: the loop of
// 09. All threads of a block call it; `shared` holds two pairs of tiles. product(x, y) is what a
// pair of elements adds to a sum.
template <Edges kEdges, class S, int kStep, class Multiply>
__device__ inline void make_tile(float4* shared, const float* a, const float* b, float* c,
                                 int first_row, int first_col, int m, int n, int k,
                                 const Multiply& product) {
  using Loads = TileLoads<kEdges, S::kTileRows, S::kTileCols, kStep, S::kThreads>;
  auto* const pairs = reinterpret_cast<typename Loads::Pair*>(shared);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = warp / S::kWarpsX * S::kWarpRows + lane / S::kLanesX * 4;
  const int col = warp % S::kWarpsX * S::kWarpCols + lane % S::kLanesX * 4;
  Loads loads(a, b, first_row, first_col, m, n, k);
  loads.begin(pairs[0], n, k);
#pragma unroll
  for (int i = 0; i < Loads::kLoadsA; ++i) loads.store_a(pairs[0], i);
  float sums[S::kRows][S::kCols] = {};
  auto *now = pairs, *next = pairs + 1;  // what is multiplied, what is loaded
  for (int first = 0; first < k; first += kStep) {
    close_copy_group();
    wait_for_copies<0>();  // this thread's, into *now
    __syncthreads();       // closes both hazards of 09
    const bool more = first + kStep < k;
    if (more) loads.begin(*next, n, k);
    Fragments<S> f[2];  // of this step of k, and of the next
    f[0].load(&now->a[0][row], &now->b[0][col]);
#pragma unroll
    for (int i = 0; i < kStep; ++i) {
      if (i + 1 < kStep) {
        f[(i + 1) % 2].load(&now->a[i + 1][row], &now->b[i + 1][col]);
      }
      f[i % 2].multiply(sums, product);
      const int load = i - (kStep - Loads::kLoadsA);
      if (more && load >= 0) loads.store_a(*next, load);
    }
    auto* const free = now;
    now = next, next = free;
  }
#pragma unroll
  for (int i = 0; i < S::kRows; ++i) {
    const int to_row = first_row + row + i / 4 * 4 * S::kLanesY + i % 4;
#pragma unroll
    for (int j = 0; j < S::kCols; j += 4) {
      const float* s = &sums[i][j];
      store4<kEdges>(c, make_float4(s[0], s[1], s[2], s[3]), to_row,
                     first_col + col + j * S::kLanesX, m, n);
    }
  }
}

// Shared memory of a block that makes tiles of shape S.
template <class S, int kStep>
constexpr int kBytesOfPairs = 2 * sizeof(TilePair<S::kTileRows, S::kTileCols, kStep>);

// Of the device that is in use.
inline int multiprocessors() {
  int device = 0, count = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
  return count;
}

// Calls measure(before, between, after) with three events, five times. The least of what it returns
// is what other work on the machine has disturbed least.
template <class Measure>
float least_of_five(const Measure& measure) {
  cudaEvent_t before, between, after;
  for (cudaEvent_t* event : {&before, &between, &after}) cudaEventCreate(event);
  float least = 1e30f;
  for (int run = 0; run < 5; ++run) {
    const float now = measure(before, between, after);
    if (now < least) least = now;
  }
  for (cudaEvent_t event : {before, between, after}) cudaEventDestroy(event);
  return least;
}

#endif  // CHAPTERS_07_TILED_MATMUL_11_MATMUL_5120_SUPPORT_H_
