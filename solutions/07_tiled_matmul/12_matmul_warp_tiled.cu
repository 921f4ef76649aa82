// 07/12 Matmul, warp tiled: a thread makes twice as much of c as in 11, and a block too.
//   a  m x k,  b  k x n,  c  m x n: floats, row-major, in device memory; c = a b
//   Any sizes from 0; a sum of no products is 0. No matrix has 2^31 elements or more.
//   A block of 8 warps makes a tile of 128 x 256 elements of c, a warp 64 x 64 of them, a thread
//   8 x 16: two groups of four rows and four of four columns, between which lie those of the other
//   lanes. TileLoads (support.h) is what you wrote in 10, for a tile of any shape: begin() asks for
//   a and begins to copy b, store_a(pair, j) stores load j of a, of kLoadsA.
//   TODOs  2
#include "12_matmul_warp_tiled.h"
#include "support.h"

// Of c: rows and columns of a block, of a warp, of a thread.
using Shape = TileShape<128, 256, 64, 64, 8, 16>;
constexpr int kStep = 16;  // steps along k per pair of tiles
static_assert(Shape::kLanesX * Shape::kLanesY == 32, "the lanes share out the tile of a warp");

using Pair = TilePair<Shape::kTileRows, Shape::kTileCols, kStep>;

// Where this thread begins in the tile of its block.
__device__ TilePosition place_of_thread() {
  TilePosition place = {0, 0};
  //~ // TODO(1): As in 11: the warps of a block stand Shape::kWarpsX wide, the lanes Shape::kLanesX
  //~ // wide. Lanes that stand side by side or above each other begin four columns or rows apart.
  //~begin 1
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  place.row = warp / Shape::kWarpsX * Shape::kWarpRows + lane / Shape::kLanesX * 4;
  place.col = warp % Shape::kWarpsX * Shape::kWarpCols + lane % Shape::kLanesX * 4;
  //~end
  return place;
}

template <Edges kEdges>
__global__ void __launch_bounds__(Shape::kThreads)
    matmul_warp_tiled(const float* a, const float* b, float* c, int m, int n, int k) {
  extern __shared__ float4 shared[];
  Pair* const pairs = reinterpret_cast<Pair*>(shared);  // 2 of them
  const TilePosition tile = tile_of_block(blockIdx.x, (m + Shape::kTileRows - 1) / Shape::kTileRows,
                                          (n + Shape::kTileCols - 1) / Shape::kTileCols);
  const int first_row = tile.row * Shape::kTileRows, first_col = tile.col * Shape::kTileCols;
  const TilePosition mine = place_of_thread();
  float sums[Shape::kRows][Shape::kCols] = {};
  using Loads = TileLoads<kEdges, Shape::kTileRows, Shape::kTileCols, kStep, Shape::kThreads>;
  Loads loads(a, b, first_row, first_col, m, n, k);
  //~ // TODO(2): The loop of 10 with these loads: one barrier per step, and the next pair is on its
  //~ // way while this one is multiplied. Here, only the first step of k is.
  //~ loads.begin(pairs[0], n, k);
  //~ for (int j = 0; j < Loads::kLoadsA; ++j) loads.store_a(pairs[0], j);
  //~ close_copy_group();
  //~ wait_for_copies<0>();
  //~ __syncthreads();
  //~ Groups<Shape> first;
  //~ first.load(&pairs[0].a[0][mine.row], &pairs[0].b[0][mine.col]);
  //~ first.multiply(sums);
  //~begin 2
  loads.begin(pairs[0], n, k);
#pragma unroll
  for (int j = 0; j < Loads::kLoadsA; ++j) loads.store_a(pairs[0], j);
  Pair *now = pairs, *next = pairs + 1;  // what is multiplied, what is loaded
  for (int first = 0; first < k; first += kStep) {
    close_copy_group();
    wait_for_copies<0>();  // this thread's, into *now
    // Closes two hazards: *now was written by other threads, and *next, which is
    // written from here on, was read by them until now.
    __syncthreads();
    const bool more = first + kStep < k;
    if (more) loads.begin(*next, n, k);
    Groups<Shape> f[2];  // of this step of k, and of the next: also these run ahead
    f[0].load(&now->a[0][mine.row], &now->b[0][mine.col]);
#pragma unroll
    for (int i = 0; i < kStep; ++i) {
      if (i + 1 < kStep) {
        f[(i + 1) % 2].load(&now->a[i + 1][mine.row], &now->b[i + 1][mine.col]);
      }
      f[i % 2].multiply(sums);
      // As late as possible: until here the loads of a had time.
      const int load = i - (kStep - Loads::kLoadsA);
      if (more && load >= 0) loads.store_a(*next, load);
    }
    Pair* const free = now;
    now = next, next = free;
  }
  //~end
  store_groups<kEdges, Shape>(sums, c, first_row + mine.row, first_col + mine.col, m, n);
}

void launch_matmul_warp_tiled(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  const int tiles = ((m + Shape::kTileRows - 1) / Shape::kTileRows) *
                    ((n + Shape::kTileCols - 1) / Shape::kTileCols);
  const Edges edges = edges_of(d_a, d_b, d_c, m, n, k, Shape::kTileRows, Shape::kTileCols, kStep);
  const auto kernel = edges == Edges::kScalars ? matmul_warp_tiled<Edges::kScalars>
                                               : matmul_warp_tiled<Edges::kVectors>;
  constexpr int kBytes = 2 * sizeof(Pair);  // 49,664: more than a block has without asking
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  if (tiles > 0) kernel<<<tiles, Shape::kThreads, kBytes>>>(d_a, d_b, d_c, m, n, k);
}
