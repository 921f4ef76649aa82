// Given code of 07/14: what you wrote for a block of 07/12, for a tile of any shape.
#ifndef CHAPTERS_07_TILED_MATMUL_14_MATMUL_5120_SUPPORT_H_
#define CHAPTERS_07_TILED_MATMUL_14_MATMUL_5120_SUPPORT_H_

#include <cuda_runtime.h>

#include "support.h"

// How c is shared out: a block makes a tile of kTileRows x kTileCols elements, each of its warps
// kWarpRows x kWarpCols, a thread kRows x kCols.
template <int kTileRows_, int kTileCols_, int kWarpRows_, int kWarpCols_, int kRows_, int kCols_>
struct TileShape {
  static constexpr int kTileRows = kTileRows_, kTileCols = kTileCols_;
  static constexpr int kWarpRows = kWarpRows_, kWarpCols = kWarpCols_;
  static constexpr int kRows = kRows_, kCols = kCols_;
  static constexpr int kWarpsX = kTileCols / kWarpCols;
  static constexpr int kLanesX = kWarpCols / kCols, kLanesY = kWarpRows / kRows;
  static constexpr int kThreads = 32 * kWarpsX * (kTileRows / kWarpRows);
};

// What a block multiplies from barrier to barrier: a tile of a and a tile of b.
template <int kTileRows, int kTileCols, int kStep>
struct TilePair {
  float a[kStep][kTileRows + 4];  // [step of k][row of c]: transposed; padded as in 08
  float b[kStep][kTileCols];      // [step of k][column of c]
};

// One thread's share of loading such pairs, one after the other along k. What is past the end of a
// matrix is zero. b goes to shared memory by itself; a is transposed on its way, so it passes
// through registers.
template <Edges kEdges, int kTileRows, int kTileCols, int kStep, int kThreads>
class TileLoads {
 public:
  using Pair = TilePair<kTileRows, kTileCols, kStep>;
  static constexpr int kLoadsA = kTileRows * kStep / 4 / kThreads;  // of 16 bytes, per pair
  static constexpr int kLoadsB = kTileCols * kStep / 4 / kThreads;

  // The tile of c begins at (first_row, first_col).
  __device__ TileLoads(const float* a, const float* b, int first_row, int first_col, int m, int n,
                       int k)
      : row_a_(threadIdx.x / (kStep / 4)), i_a_(threadIdx.x % (kStep / 4) * 4) {
    const int row = first_row + row_a_, i_b = threadIdx.x / (kTileCols / 4);
    const int col = first_col + threadIdx.x % (kTileCols / 4) * 4;
    a_ = a + static_cast<size_t>(row) * k + i_a_, rows_a_ = m - row, cols_a_ = k - i_a_;
    b_ = b + static_cast<size_t>(i_b) * n + col, rows_b_ = k - i_b, cols_b_ = n - col;
  }

  // Begins to load the next pair, b into `pair`. Nobody may read `pair` any more.
  __device__ void begin(Pair& pair, int n, int k) {
#pragma unroll
    for (int i = 0; i < kLoadsB; ++i) {
      constexpr int kApart = kStep / kLoadsB;  // rows of b, between two loads of a thread
      const int at = threadIdx.x / (kTileCols / 4) + kApart * i;
      copy4_async<kEdges>(&pair.b[at][threadIdx.x % (kTileCols / 4) * 4],
                          b_ + static_cast<size_t>(kApart * i) * n, rows_b_ - kApart * i, cols_b_);
    }
#pragma unroll
    for (int i = 0; i < kLoadsA; ++i) {
      held_[i] =
          load4<kEdges>(a_ + static_cast<size_t>(kApartA * i) * k, rows_a_ - kApartA * i, cols_a_);
    }
    a_ += kStep, cols_a_ -= kStep;
    b_ += static_cast<size_t>(kStep) * n, rows_b_ -= kStep;
  }

  // Stores what load i of a has brought, waiting for it if need be.
  __device__ void store_a(Pair& pair, int i) const {
    const int row = row_a_ + kApartA * i;
    pair.a[i_a_][row] = held_[i].x;
    pair.a[i_a_ + 1][row] = held_[i].y;
    pair.a[i_a_ + 2][row] = held_[i].z;
    pair.a[i_a_ + 3][row] = held_[i].w;
  }

 private:
  static constexpr int kApartA = kTileRows / kLoadsA;  // rows of a, between two loads of a thread

  int row_a_, i_a_;                        // place of this thread's first load in the tile of a
  const float *a_, *b_;                    // what this thread loads first of the next pair
  int rows_a_, cols_a_, rows_b_, cols_b_;  // what the matrices have from there on
  float4 held_[kLoadsA];                   // of a, between global and shared memory
};

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
