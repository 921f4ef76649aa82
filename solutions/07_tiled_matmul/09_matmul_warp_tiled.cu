// 07/09 Matmul, warp tiled: near the library, by loading what comes next while it multiplies.
//   a  m x k,  b  k x n,  c  m x n: floats, row-major, in device memory; c = a b
//   Any sizes from 0; a sum of no products is 0. No matrix has 2^31 elements or more.
//   A block of 8 warps makes a tile of 128 x 256 elements of c, a warp 64 x 64 of them, a thread
//   8 x 16. It reads ahead twice: the next pair of tiles comes from global memory while this one is
//   multiplied, and the words of the next step of k come from shared memory while those of this
//   step are used. TilePair and TileLoads are in support.h.
//   TODOs  3
#include "09_matmul_warp_tiled.h"
#include "support.h"

constexpr int kTileRows = 128, kTileCols = 256;   // of c, per block
constexpr int kWarpRows = 64, kWarpCols = 64;     // of c, per warp
constexpr int kRows = 8, kCols = 16;              // of c, per thread
constexpr int kStep = 16;                         // steps along k per pair of tiles
constexpr int kWarpsX = kTileCols / kWarpCols;    // warps of a block side by side
constexpr int kWarpsY = kTileRows / kWarpRows;    // and above each other
constexpr int kLanesX = kWarpCols / kCols;        // lanes of a warp side by side
constexpr int kLanesY = kWarpRows / kRows;        // and above each other
constexpr int kApartY = 4 * kLanesY;              // rows, from one group of four to the next
constexpr int kApartX = 4 * kLanesX;              // columns, likewise
constexpr int kThreads = 32 * kWarpsX * kWarpsY;  // of a block
static_assert(kLanesX * kLanesY == 32, "the tile of a warp is shared out among its lanes");

using Pair = TilePair<kTileRows, kTileCols, kStep>;

// What a thread multiplies in one step of k, in groups of four.
struct Fragments {
  float4 a[kRows / 4], b[kCols / 4];

  // `row_of_a` and `row_of_b`: this thread's first elements in the rows of both tiles.
  __device__ void load(const float* row_of_a, const float* row_of_b) {
#pragma unroll
    for (int j = 0; j < kCols / 4; ++j) {
      b[j] = *reinterpret_cast<const float4*>(row_of_b + kApartX * j);
    }
#pragma unroll
    for (int i = 0; i < kRows / 4; ++i) {
      a[i] = *reinterpret_cast<const float4*>(row_of_a + kApartY * i);
    }
  }
};

__device__ inline void multiply(const Fragments& f, float (&sums)[kRows][kCols]) {
  const float* x = reinterpret_cast<const float*>(f.a);  // kRows floats, in registers
  const float* y = reinterpret_cast<const float*>(f.b);  // kCols floats, in registers
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
#pragma unroll
    for (int j = 0; j < kCols; ++j) sums[i][j] += x[i] * y[j];
  }
}

template <Edges kEdges>
__global__ void __launch_bounds__(kThreads)
    matmul_warp_tiled(const float* a, const float* b, float* c, int m, int n, int k) {
  extern __shared__ float4 shared[];
  Pair* const pairs = reinterpret_cast<Pair*>(shared);  // 2 of them
  const TilePosition tile =
      tile_of_block(blockIdx.x, (m + kTileRows - 1) / kTileRows, (n + kTileCols - 1) / kTileCols);
  const int first_row = tile.row * kTileRows, first_col = tile.col * kTileCols;
  //~ // TODO(1): Find this thread's first row and column in the tile: where its warp begins, plus
  //~ // four for every lane above or left of it (about 3 lines).
  //~ const int row = 0, col = 0;
  //~begin 1
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = warp / kWarpsX * kWarpRows + lane / kLanesX * 4;
  const int col = warp % kWarpsX * kWarpCols + lane % kLanesX * 4;
  //~end
  using Loads = TileLoads<kEdges, kTileRows, kTileCols, kStep, kThreads>;
  Loads loads(a, b, first_row, first_col, m, n, k);
  loads.begin(pairs[0], n, k);
#pragma unroll
  for (int i = 0; i < Loads::kLoadsA; ++i) loads.store_a(pairs[0], i);
  float sums[kRows][kCols] = {};
  Pair *now = pairs, *next = pairs + 1;  // what is multiplied, what is loaded
  for (int first = 0; first < k; first += kStep) {
    close_copy_group();
    wait_for_copies<0>();  // this thread's, into *now
    // Closes two hazards: *now was written by other threads, and *next, which is
    // written from here on, was read by them until now.
    __syncthreads();
    //~ // TODO(2): Begin to load the next pair, if there is one (about 2 lines).
    //~ const bool more = false;
    //~begin 2
    const bool more = first + kStep < k;
    if (more) loads.begin(*next, n, k);
    //~end
    Fragments f[2];  // of this step of k, and of the next
    f[0].load(&now->a[0][row], &now->b[0][col]);
#pragma unroll
    for (int i = 0; i < kStep; ++i) {
      //~ // TODO(3): Read the fragments of the next step of k, if there is one, to the other half
      //~ // of f; then multiply those of this step (about 4 lines).
      //~ multiply(f[0], sums);
      //~begin 3
      if (i + 1 < kStep) {
        f[(i + 1) % 2].load(&now->a[i + 1][row], &now->b[i + 1][col]);
      }
      multiply(f[i % 2], sums);
      //~end
      // As late as possible: until here the loads of a had time.
      const int load = i - (kStep - Loads::kLoadsA);
      if (more && load >= 0) loads.store_a(*next, load);
    }
    Pair* const free = now;
    now = next, next = free;
  }
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    const int to_row = first_row + row + i / 4 * kApartY + i % 4;
#pragma unroll
    for (int j = 0; j < kCols; j += 4) {
      const int to_col = first_col + col + j / 4 * kApartX;
      const float* s = &sums[i][j];
      store4<kEdges>(c, make_float4(s[0], s[1], s[2], s[3]), to_row, to_col, m, n);
    }
  }
}

void launch_matmul_warp_tiled(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  const int tiles = ((m + kTileRows - 1) / kTileRows) * ((n + kTileCols - 1) / kTileCols);
  const Edges edges = edges_of(d_a, d_b, d_c, m, n, k, kTileRows, kTileCols, kStep);
  const auto kernel = edges == Edges::kScalars ? matmul_warp_tiled<Edges::kScalars>
                                               : matmul_warp_tiled<Edges::kVectors>;
  constexpr int kBytes = 2 * sizeof(Pair);  // 49,664: more than a block has without asking
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  if (tiles > 0) kernel<<<tiles, kThreads, kBytes>>>(d_a, d_b, d_c, m, n, k);
}
