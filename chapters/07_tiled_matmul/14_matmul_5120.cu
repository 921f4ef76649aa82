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
  // TODO(1): The part of c that this block makes, with make_tile. The parts of a large tile are
  // numbered row by row, and the large tiles in the order of tile_of_block. A part may lie past
  // the edge of c.
}

int tiles_in_whole_waves(int tiles, int places) {
  int whole = 0;
  // TODO(2): The most whole waves of `places` tiles. But if more than half of another wave is
  // left, all tiles: cutting so many costs more than it saves (about 3 lines).
  return whole;
}

// `count` large tiles from number `first` on, in parts of shape S.
template <Edges kEdges, class S>
void launch_tiles(const float* d_a, const float* d_b, float* d_c, int m, int n, int k, int first,
                  int count) {
  // TODO(3): The launch of these tiles, with as much shared memory as they need. And below: what
  // whole waves take is made in large tiles, what is left in small ones.
}

template <Edges kEdges>
void launch_all(const float* d_a, const float* d_b, float* d_c, int m, int n, int k, int places) {
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
    // TODO(4): Time one launch of do_nothing and one of the work with the three events, into
    // `empty` and `full` (about 8 lines).
    return full - empty;
  });
}
