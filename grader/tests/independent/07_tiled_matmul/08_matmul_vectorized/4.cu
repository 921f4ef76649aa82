// Design: 128x64 tile, step 32, 8x4 per thread, register prefetch
#include "08_matmul_vectorized.h"
#include "support.h"

namespace {

constexpr int kTileRows = 128, kTileCols = 64, kStep = 32;
struct Block {  // a thread makes 8 x 4 elements of c in groups of four
  static constexpr int kRows = 8, kCols = 4;
  static constexpr int kLanesX = kTileCols / kCols, kLanesY = kTileRows / kRows;
};
constexpr int kThreads = Block::kLanesX * Block::kLanesY;
constexpr int kLoadsA = kTileRows * kStep / 4 / kThreads;  // of 16 bytes, per thread and step
constexpr int kLoadsB = kTileCols * kStep / 4 / kThreads;
struct Tiles {
  float a[kStep][kTileRows + 4];  // [step of k][row of c]
  float b[kStep][kTileCols];      // [step of k][column of c]
};
constexpr int kBytes = 1 * sizeof(Tiles);

template <Edges kEdges>
__global__ void __launch_bounds__(kThreads, 1)
    matmul_vectorized_kernel(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m,
             int n, int k) {
  extern __shared__ float4 shared[];
  const int t = threadIdx.x;
  const int first_row = blockIdx.y * kTileRows, first_col = blockIdx.x * kTileCols;
  const int row = t / Block::kLanesX * 4, col = t % Block::kLanesX * 4;  // in the tile
  float sums[Block::kRows][Block::kCols] = {};
  Tiles& tiles = *reinterpret_cast<Tiles*>(shared);
  float4 of_a[kLoadsA], of_b[kLoadsB];  // on their way
  const auto begin = [&](int first) {
#pragma unroll
    for (int j = 0; j < kLoadsA; ++j) {
      const int e = t + j * kThreads;
      of_a[j] = load4<kEdges>(a, first_row + e / (kStep / 4), first + e % (kStep / 4) * 4, m, k);
    }
#pragma unroll
    for (int j = 0; j < kLoadsB; ++j) {
      const int e = t + j * kThreads;
      of_b[j] = load4<kEdges>(b, first + e / (kTileCols / 4), first_col + e % (kTileCols / 4) * 4, k, n);
    }
  };
  const auto store = [&](Tiles& tiles) {
#pragma unroll
    for (int j = 0; j < kLoadsA; ++j) {
      const int e = t + j * kThreads, r = e / (kStep / 4), i = e % (kStep / 4) * 4;
      tiles.a[i][r] = of_a[j].x, tiles.a[i + 1][r] = of_a[j].y;
      tiles.a[i + 2][r] = of_a[j].z, tiles.a[i + 3][r] = of_a[j].w;
    }
#pragma unroll
    for (int j = 0; j < kLoadsB; ++j) {
      const int e = t + j * kThreads;
      four(&tiles.b[e / (kTileCols / 4)][e % (kTileCols / 4) * 4]) = of_b[j];
    }
  };
  begin(0);
  for (int first = 0; first < k; first += kStep) {
    store(tiles);
    __syncthreads();
    if (first + kStep < k) begin(first + kStep);
#pragma unroll
    for (int i = 0; i < kStep; ++i) {
      Groups<Block> now;
      now.load(&tiles.a[i][row], &tiles.b[i][col]);
      now.multiply(sums);
    }
    __syncthreads();
  }
  store_groups<kEdges, Block>(sums, c, first_row + row, first_col + col, m, n);
}

}  // namespace

void launch_matmul_vectorized(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  const dim3 grid((n + kTileCols - 1) / kTileCols, (m + kTileRows - 1) / kTileRows);
  if (grid.x == 0 || grid.y == 0) return;
  const Edges edges = edges_of(d_a, d_b, d_c, m, n, k, kTileRows, kTileCols, kStep);
  const auto kernel = edges == Edges::kScalars ? matmul_vectorized_kernel<Edges::kScalars>
                                               : matmul_vectorized_kernel<Edges::kVectors>;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  kernel<<<grid, kThreads, kBytes>>>(d_a, d_b, d_c, m, n, k);
}
