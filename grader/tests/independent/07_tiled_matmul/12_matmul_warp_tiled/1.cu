// Design: 128x256 tile, warps 64x64, 8x16 per thread, fragments ahead, grouped blocks
#include "12_matmul_warp_tiled.h"
#include "support.h"

namespace {

constexpr int kTileRows = 128, kTileCols = 256, kStep = 16;
// A warp makes 64 x 64 elements of c, its lanes stand kLanesX wide and kLanesY high.
struct Block {
  static constexpr int kRows = 8, kCols = 16;
  static constexpr int kLanesX = 4, kLanesY = 8;
};
constexpr int kWarpRows = 64, kWarpCols = 64, kWarpsX = kTileCols / kWarpCols;
constexpr int kThreads = 32 * kWarpsX * (kTileRows / kWarpRows);
constexpr int kLoadsA = kTileRows * kStep / 4 / kThreads;  // of 16 bytes, per thread and step
constexpr int kLoadsB = kTileCols * kStep / 4 / kThreads;
struct Tiles {
  float a[kStep][kTileRows + 4];  // [step of k][row of c]
  float b[kStep][kTileCols];      // [step of k][column of c]
};
constexpr int kBytes = 2 * sizeof(Tiles);

template <Edges kEdges>
__global__ void __launch_bounds__(kThreads, 1)
    matmul_warp_tiled_kernel(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m,
             int n, int k) {
  extern __shared__ float4 shared[];
  const int t = threadIdx.x;
  const TilePosition tile = tile_of_block(blockIdx.x, (m + kTileRows - 1) / kTileRows,
                                          (n + kTileCols - 1) / kTileCols);
  const int first_row = tile.row * kTileRows, first_col = tile.col * kTileCols;
  const int warp = t / 32, lane = t % 32;
  const int row = warp / kWarpsX * kWarpRows + lane / Block::kLanesX * 4;  // in the tile
  const int col = warp % kWarpsX * kWarpCols + lane % Block::kLanesX * 4;
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
    Groups<Block> of[2];  // of this step of k, and of the next
    of[0].load(&now.a[0][row], &now.b[0][col]);
#pragma unroll
    for (int i = 0; i < kStep; ++i) {
      if (i + 1 < kStep) of[(i + 1) % 2].load(&now.a[i + 1][row], &now.b[i + 1][col]);
      of[i % 2].multiply(sums);
    }
    if (more) store(pair[which ^ 1]);
  }
  wait_for_copies<0>();
  store_groups<kEdges, Block>(sums, c, first_row + row, first_col + col, m, n);
}

}  // namespace

void launch_matmul_warp_tiled(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  const int grid = ((n + kTileCols - 1) / kTileCols) * ((m + kTileRows - 1) / kTileRows);
  if (grid == 0) return;
  const Edges edges = edges_of(d_a, d_b, d_c, m, n, k, kTileRows, kTileCols, kStep);
  const auto kernel = edges == Edges::kScalars ? matmul_warp_tiled_kernel<Edges::kScalars>
                                               : matmul_warp_tiled_kernel<Edges::kVectors>;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  kernel<<<grid, kThreads, kBytes>>>(d_a, d_b, d_c, m, n, k);
}
