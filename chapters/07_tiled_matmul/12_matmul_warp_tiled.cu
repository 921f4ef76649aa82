// 07/12 Matmul, warp tiled: a thread makes twice as much of c as in 11, and a block too.
//   a  m x k,  b  k x n,  c  m x n: floats, row-major, in device memory; c = a b
//   Any sizes from 0; a sum of no products is 0. No matrix has 2^31 elements or more.
//   A block of 8 warps makes a tile of 128 x 256 elements of c, a warp 64 x 64 of them, a thread
//   8 x 16: two groups of four rows and four of four columns, between which lie those of the other
//   lanes. Everything else is what you wrote in 08 to 11, for tiles of another shape.
//   TODOs  2
#include "12_matmul_warp_tiled.h"
#include "support.h"

// Of c: rows and columns of a block, of a warp, of a thread.
struct Shape {
  static constexpr int kTileRows = 128, kTileCols = 256;
  static constexpr int kWarpRows = 64, kWarpCols = 64;
  static constexpr int kRows = 8, kCols = 16;
  static constexpr int kWarpsX = kTileCols / kWarpCols;
  static constexpr int kLanesX = kWarpCols / kCols, kLanesY = kWarpRows / kRows;
  static constexpr int kThreads = 32 * kWarpsX * (kTileRows / kWarpRows);
};
constexpr int kStep = 16;  // steps along k per pair of tiles
static_assert(Shape::kLanesX * Shape::kLanesY == 32, "the lanes share out the tile of a warp");

// What a block multiplies from barrier to barrier: a tile of a and a tile of b.
struct Pair {
  float a[kStep][Shape::kTileRows + 4];  // [step of k][row of c]: transposed; padded as in 08
  float b[kStep][Shape::kTileCols];      // [step of k][column of c]
};

// Where this thread begins in the tile of its block, in elements.
__device__ TilePosition place_of_thread() {
  TilePosition place = {0, 0};
  // TODO(1): The warps of a block stand Shape::kWarpsX wide, the lanes of a warp Shape::kLanesX
  // wide. Lanes that stand side by side or above each other begin four columns or rows apart.
  return place;
}

// TODO(2): What you wrote in 10 for tiles of 128 x 128 (the starter of 11 has the reference's),
// for these: the loads and copies, here or in the kernel, and the loop. One barrier per step,
// and the next pair is on its way while this one is multiplied.

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
  // As it stands, only the first product of each sum is made.
  for (int e = threadIdx.x; e < Shape::kTileRows + Shape::kTileCols; e += Shape::kThreads) {
    const int at = e - Shape::kTileRows;  // in the row of b
    if (at < 0) {
      pairs[0].a[0][e] = load4<Edges::kScalars>(a, first_row + e, 0, m, k).x;
    } else {
      pairs[0].b[0][at] = load4<Edges::kScalars>(b, 0, first_col + at, k, n).x;
    }
  }
  __syncthreads();  // closes write against read: other threads have loaded what is read
  Groups<Shape> first;
  first.load(&pairs[0].a[0][mine.row], &pairs[0].b[0][mine.col]);
  first.multiply(sums);
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
