// a tile of 128 x 128 in steps of 32 (1/64 word per multiply-add), warps of 32 x 64, place computed in the loop body, a functor per step
#include "11_matmul_warp_tiled.h"
#include "support.h"

// Of c: rows and columns of a block, of a warp, of a thread.
using Shape = TileShape<128, 128, 32, 64, 8, 8>;
constexpr int kStep = 32;  // steps along k per pair of tiles
static_assert(Shape::kLanesX * Shape::kLanesY == 32, "the lanes share out the tile of a warp");

using Pair = TilePair<Shape::kTileRows, Shape::kTileCols, kStep>;

// Where this thread begins in the tile of its block.
__device__ TilePosition place_of_thread() {
  TilePosition place = {0, 0};
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int lanes_x = Shape::kLanesX;
  place = {(warp / Shape::kWarpsX) * Shape::kWarpRows + (lane / lanes_x) * 4,
           (warp & (Shape::kWarpsX - 1)) * Shape::kWarpCols + (lane & (lanes_x - 1)) * 4};
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
  const auto begin = [&](Pair& pair) {
    loads.begin(pair, n, k);
    close_copy_group();
  };
  const auto store = [&](Pair& pair) {
#pragma unroll
    for (int j = 0; j < Loads::kLoadsA; ++j) loads.store_a(pair, j);
  };
  if (k > 0) {
    begin(pairs[0]);
    store(pairs[0]);
  }
  for (int first = 0, which = 0; first < k; first += kStep, which ^= 1) {
    wait_for_copies<0>();
    __syncthreads();  // the only one of a step
    const bool more = first + kStep < k;
    if (more) begin(pairs[which ^ 1]);
#pragma unroll 4
    for (int i = 0; i < kStep; ++i) {
      Groups<Shape> now;
      now.load(&pairs[which].a[i][mine.row], &pairs[which].b[i][mine.col]);
      now.multiply(sums);
    }
    if (more) store(pairs[which ^ 1]);
  }
  store_groups<kEdges, Shape>(sums, c, first_row + mine.row, first_col + mine.col, m, n);
}

void launch_matmul_warp_tiled(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  const int tiles = ((m + Shape::kTileRows - 1) / Shape::kTileRows) *
                    ((n + Shape::kTileCols - 1) / Shape::kTileCols);
  const Edges edges = edges_of(d_a, d_b, d_c, m, n, k, Shape::kTileRows, Shape::kTileCols, kStep);
  const auto kernel = edges == Edges::kScalars ? matmul_warp_tiled<Edges::kScalars>
                                               : matmul_warp_tiled<Edges::kVectors>;
  constexpr int kBytes = 2 * sizeof(Pair);  // more than a block has without asking
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  if (tiles > 0) kernel<<<tiles, Shape::kThreads, kBytes>>>(d_a, d_b, d_c, m, n, k);
}
