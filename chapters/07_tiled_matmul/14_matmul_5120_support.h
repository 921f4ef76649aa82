// Given code of 07/14: what a block of 07/12 does, for a tile of any shape.
#ifndef CHAPTERS_07_TILED_MATMUL_14_MATMUL_5120_SUPPORT_H_
#define CHAPTERS_07_TILED_MATMUL_14_MATMUL_5120_SUPPORT_H_

#include <cuda_runtime.h>

#include "support.h"

// Makes the tile of c that begins at (first_row, first_col), in steps of kStep along k: the loop of
// 12. All threads of a block call it; `shared` holds two pairs of tiles. product(x, y) is what a
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
    __syncthreads();       // closes both hazards of 12
    const bool more = first + kStep < k;
    if (more) loads.begin(*next, n, k);
    Groups<S> f[2];  // of this step of k, and of the next
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
  store_groups<kEdges, S>(sums, c, first_row + row, first_col + col, m, n);
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

#endif  // CHAPTERS_07_TILED_MATMUL_14_MATMUL_5120_SUPPORT_H_
