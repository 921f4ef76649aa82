// 07/14 Matmul, 5120: no last wave of blocks that leaves most of the card idle.
//   a  m x k,  b  k x n,  c  m x n: floats, row-major, in device memory; c = a b
//   Any sizes from 0; a sum of no products is 0. No matrix has 2^31 elements or more.
//   With m = n = 5120 the kernel of 12 has 800 tiles. An H200 makes 132 at a time: six waves, and
//   then 8 tiles while 124 multiprocessors wait. Here whole waves have large tiles, and what is
//   left is cut into small ones. make_tile is the work of a block of 12 with the shape as a
//   parameter.
//   TODOs  4
#include "14_matmul_5120.h"
#include "14_matmul_5120_support.h"

constexpr int kLargeRows = 128, kLargeCols = 256;  // a tile of c, as in 12
constexpr int kStep = 16;                          // steps along k per pair of tiles

using Large = TileShape<kLargeRows, kLargeCols, 64, 64, 8, 16>;
using Small = TileShape<64, 64, 32, 32, 4, 8>;
template <class S>  // into so many tiles of shape S a large one is cut
constexpr int kParts = (kLargeRows / S::kTileRows) * (kLargeCols / S::kTileCols);

// Block 0 makes part 0 of large tile number first_tile, block kParts<S> part 0 of the next.
template <Edges kEdges, class S>
__global__ void __launch_bounds__(S::kThreads)
    matmul_tiles(const float* a, const float* b, float* c, int m, int n, int k, int first_tile) {
  //~ // TODO(1): The part of c that this block makes, with make_tile. The parts of a large tile are
  //~ // numbered row by row, and the large tiles in the order of tile_of_block. A part may lie past
  //~ // the edge of c.
  //~begin 1
  extern __shared__ float4 shared[];
  const int tile_rows = (m + kLargeRows - 1) / kLargeRows;
  const int tile_cols = (n + kLargeCols - 1) / kLargeCols;
  constexpr int kPartsX = kLargeCols / S::kTileCols;
  const int block = blockIdx.x, part = block % kParts<S>;
  const TilePosition tile = tile_of_block(first_tile + block / kParts<S>, tile_rows, tile_cols);
  const int first_row = tile.row * kLargeRows + part / kPartsX * S::kTileRows;
  const int first_col = tile.col * kLargeCols + part % kPartsX * S::kTileCols;
  if (first_row >= m || first_col >= n) return;  // the whole block: a part past the edge of c
  make_tile<kEdges, S, kStep>(shared, a, b, c, first_row, first_col, m, n, k,
                              [](float x, float y) { return x * y; });
  //~end
}

int tiles_in_whole_waves(int tiles, int places) {
  int whole = 0;
  //~ // TODO(2): The most whole waves of `places` tiles. But if more than half of another wave is
  //~ // left, all tiles: cutting so many costs more than it saves (about 3 lines).
  //~begin 2
  whole = tiles / places * places;
  if (2 * (tiles - whole) > places) whole = tiles;
  //~end
  return whole;
}

// `count` large tiles from number `first` on, in parts of shape S.
template <Edges kEdges, class S>
void launch_tiles(const float* d_a, const float* d_b, float* d_c, int m, int n, int k, int first,
                  int count) {
  //~ // TODO(3): The launch of these tiles, with as much shared memory as they need. And below: what
  //~ // whole waves take is made in large tiles, what is left in small ones.
  //~begin 3
  constexpr int kBytes = kBytesOfPairs<S, kStep>;
  const auto kernel = matmul_tiles<kEdges, S>;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  if (count > 0) kernel<<<count * kParts<S>, S::kThreads, kBytes>>>(d_a, d_b, d_c, m, n, k, first);
  //~end
}

template <Edges kEdges>
void launch_all(const float* d_a, const float* d_b, float* d_c, int m, int n, int k, int places) {
  //~begin 3
  const int tiles = ((m + kLargeRows - 1) / kLargeRows) * ((n + kLargeCols - 1) / kLargeCols);
  const int whole = tiles_in_whole_waves(tiles, places);
  launch_tiles<kEdges, Large>(d_a, d_b, d_c, m, n, k, 0, whole);
  launch_tiles<kEdges, Small>(d_a, d_b, d_c, m, n, k, whole, tiles - whole);
  //~end
}

void launch_matmul_places(const float* d_a, const float* d_b, float* d_c, int m, int n, int k,
                          int places) {
  const Edges edges = edges_of(d_a, d_b, d_c, m, n, k, kLargeRows, kLargeCols, kStep);
  const auto launch =
      edges == Edges::kScalars ? launch_all<Edges::kScalars> : launch_all<Edges::kVectors>;
  launch(d_a, d_b, d_c, m, n, k, places);
}

void launch_matmul_5120(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  launch_matmul_places(d_a, d_b, d_c, m, n, k, multiprocessors());  // one large tile on each
}

__global__ void do_nothing() {}

float milliseconds_of(void (*launch)(void* work), void* work) {
  return least_of_five([&](cudaEvent_t before, cudaEvent_t between, cudaEvent_t after) {
    float empty = 0.0f, full = 0.0f;
    //~ // TODO(4): Time one launch of do_nothing and one of the work with the three events, into
    //~ // `empty` and `full` (about 8 lines).
    //~begin 4
    cudaEventRecord(before);
    do_nothing<<<1, 1>>>();
    cudaEventRecord(between);
    launch(work);
    cudaEventRecord(after);
    cudaEventSynchronize(after);
    cudaEventElapsedTime(&empty, before, between);
    cudaEventElapsedTime(&full, between, after);
    //~end
    return full - empty;
  });
}
