// Design: 128x128 step 16, 8x8, b by cp.async, a by registers, 2 stages
#include "10_matmul_async_copy.h"
#include "support.h"

namespace {

constexpr int kTileRows = 128, kTileCols = 128, kStep = 16;
struct Block {  // a thread makes 8 x 8 elements of c in groups of four
  static constexpr int kRows = 8, kCols = 8;
  static constexpr int kLanesX = kTileCols / kCols, kLanesY = kTileRows / kRows;
};
constexpr int kThreads = Block::kLanesX * Block::kLanesY;
constexpr int kLoadsA = kTileRows * kStep / 4 / kThreads;  // of 16 bytes, per thread and step
constexpr int kLoadsB = kTileCols * kStep / 4 / kThreads;
struct Tiles {
  float a[kStep][kTileRows + 4];  // [step of k][row of c]
  float b[kStep][kTileCols];      // [step of k][column of c]
};
constexpr int kBytes = 2 * sizeof(Tiles);

template <Edges kEdges>
__global__ void __launch_bounds__(kThreads, 1)
    matmul_async_copy_kernel(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m,
             int n, int k) {
  extern __shared__ float4 shared[];
  const int t = threadIdx.x;
  const int first_row = blockIdx.y * kTileRows, first_col = blockIdx.x * kTileCols;
  const int row = t / Block::kLanesX * 4, col = t % Block::kLanesX * 4;  // in the tile
  float sums[Block::kRows][Block::kCols] = {};
  Tiles* const pair = reinterpret_cast<Tiles*>(shared);  // two of them
  float4 of_a[kLoadsA];  // on their way
  const auto begin = [&](int first, Tiles& tiles) {
#pragma unroll
    for (int j = 0; j < kLoadsB; ++j) {
      const int e = t + j * kThreads, i = e / (kTileCols / 4), at = e % (kTileCols / 4) * 4;
      copy4_async<kEdges>(&tiles.b[i][at], b + static_cast<size_t>(first + i) * n + first_col + at,
                          k - first - i, n - first_col - at);
    }
    close_copy_group();
#pragma unroll
    for (int j = 0; j < kLoadsA; ++j) {
      const int e = t + j * kThreads;
      of_a[j] = load4<kEdges>(a, first_row + e / (kStep / 4), first + e % (kStep / 4) * 4, m, k);
    }
  };
  const auto store = [&](Tiles& tiles) {
#pragma unroll
    for (int j = 0; j < kLoadsA; ++j) {
      const int e = t + j * kThreads, r = e / (kStep / 4), i = e % (kStep / 4) * 4;
      tiles.a[i][r] = of_a[j].x, tiles.a[i + 1][r] = of_a[j].y;
      tiles.a[i + 2][r] = of_a[j].z, tiles.a[i + 3][r] = of_a[j].w;
    }
  };
  begin(0, pair[0]);
  store(pair[0]);
  for (int first = 0, which = 0; first < k; first += kStep, which ^= 1) {
    wait_for_copies<0>();
    __syncthreads();  // pair[which] is complete, and nobody reads the other one any more
    const bool more = first + kStep < k;
    if (more) begin(first + kStep, pair[which ^ 1]);
    const Tiles& now = pair[which];
#pragma unroll
    for (int i = 0; i < kStep; ++i) {
      Groups<Block> now;
      now.load(&now.a[i][row], &now.b[i][col]);
      now.multiply(sums);
    }
    if (more) store(pair[which ^ 1]);
  }
  wait_for_copies<0>();
  store_groups<kEdges, Block>(sums, c, first_row + row, first_col + col, m, n);
}

}  // namespace

void launch_matmul_async_copy(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  const dim3 grid((n + kTileCols - 1) / kTileCols, (m + kTileRows - 1) / kTileRows);
  if (grid.x == 0 || grid.y == 0) return;
  const Edges edges = edges_of(d_a, d_b, d_c, m, n, k, kTileRows, kTileCols, kStep);
  const auto kernel = edges == Edges::kScalars ? matmul_async_copy_kernel<Edges::kScalars>
                                               : matmul_async_copy_kernel<Edges::kVectors>;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  kernel<<<grid, kThreads, kBytes>>>(d_a, d_b, d_c, m, n, k);
}
