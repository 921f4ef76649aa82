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
  //~ // TODO(1): The warps of a block stand Shape::kWarpsX wide, the lanes of a warp Shape::kLanesX
  //~ // wide. Lanes that stand side by side or above each other begin four columns or rows apart.
  //~begin 1
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  place.row = warp / Shape::kWarpsX * Shape::kWarpRows + lane / Shape::kLanesX * 4;
  place.col = warp % Shape::kWarpsX * Shape::kWarpCols + lane % Shape::kLanesX * 4;
  //~end
  return place;
}

//~ // TODO(2): What you wrote in 10 for tiles of 128 x 128 (the starter of 11 has the reference's),
//~ // for these: the loads and copies, here or in the kernel, and the loop. One barrier per step,
//~ // and the next pair is on its way while this one is multiplied.
//~begin 2
// One thread's share of loading pairs of tiles, one after the other along k.
template <Edges kEdges>
class Loads {
 public:
  static constexpr int kLoadsA = Shape::kTileRows * kStep / 4 / Shape::kThreads;  // of 16 bytes
  static constexpr int kLoadsB = Shape::kTileCols * kStep / 4 / Shape::kThreads;

  // The tile of c begins at (first_row, first_col).
  __device__ Loads(const float* a, const float* b, int first_row, int first_col, int m, int n,
                   int k)
      : row_a_(threadIdx.x / (kStep / 4)), i_a_(threadIdx.x % (kStep / 4) * 4) {
    const int row = first_row + row_a_, i_b = threadIdx.x / (Shape::kTileCols / 4);
    const int col = first_col + threadIdx.x % (Shape::kTileCols / 4) * 4;
    a_ = a + static_cast<size_t>(row) * k + i_a_, rows_a_ = m - row, cols_a_ = k - i_a_;
    b_ = b + static_cast<size_t>(i_b) * n + col, rows_b_ = k - i_b, cols_b_ = n - col;
  }

  // Begins to load the next pair, b into `pair`. Nobody may read `pair` any more.
  __device__ void begin(Pair& pair, int n, int k) {
#pragma unroll
    for (int i = 0; i < kLoadsB; ++i) {
      constexpr int kApart = kStep / kLoadsB;  // rows of b, between two loads of a thread
      const int at = threadIdx.x / (Shape::kTileCols / 4) + kApart * i;
      copy4_async<kEdges>(&pair.b[at][threadIdx.x % (Shape::kTileCols / 4) * 4],
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
  static constexpr int kApartA = Shape::kTileRows / kLoadsA;  // rows, between a thread's loads

  int row_a_, i_a_;                        // place of this thread's first load in the tile of a
  const float *a_, *b_;                    // what this thread loads first of the next pair
  int rows_a_, cols_a_, rows_b_, cols_b_;  // what the matrices have from there on
  float4 held_[kLoadsA];                   // of a, between global and shared memory
};
//~end

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
  //~ // As it stands, only the first product of each sum is made.
  //~ for (int e = threadIdx.x; e < Shape::kTileRows + Shape::kTileCols; e += Shape::kThreads) {
  //~   const int at = e - Shape::kTileRows;  // in the row of b
  //~   if (at < 0) {
  //~     pairs[0].a[0][e] = load4<Edges::kScalars>(a, first_row + e, 0, m, k).x;
  //~   } else {
  //~     pairs[0].b[0][at] = load4<Edges::kScalars>(b, 0, first_col + at, k, n).x;
  //~   }
  //~ }
  //~ __syncthreads();  // closes write against read: other threads have loaded what is read
  //~ Groups<Shape> first;
  //~ first.load(&pairs[0].a[0][mine.row], &pairs[0].b[0][mine.col]);
  //~ first.multiply(sums);
  //~begin 2
  Loads<kEdges> loads(a, b, first_row, first_col, m, n, k);
  loads.begin(pairs[0], n, k);
#pragma unroll
  for (int j = 0; j < Loads<kEdges>::kLoadsA; ++j) loads.store_a(pairs[0], j);
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
      const int load = i - (kStep - Loads<kEdges>::kLoadsA);
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
