// Design: 256x128 tile, warps 64x64, 16x8 per thread, all cp.async, 3 stages
#include "12_matmul_warp_tiled.h"
#include "support.h"

namespace {

constexpr int kTileRows = 256, kTileCols = 128, kStep = 16;
// A warp makes 64 x 64 elements of c, its lanes stand kLanesX wide and kLanesY high.
struct Block {
  static constexpr int kRows = 16, kCols = 8;
  static constexpr int kLanesX = 8, kLanesY = 4;
};
constexpr int kWarpRows = 64, kWarpCols = 64, kWarpsX = kTileCols / kWarpCols;
constexpr int kThreads = 32 * kWarpsX * (kTileRows / kWarpRows);
constexpr int kLoadsA = kTileRows * kStep / 4 / kThreads;  // of 16 bytes, per thread and step
constexpr int kLoadsB = kTileCols * kStep / 4 / kThreads;
struct Tiles {
  float a[kTileRows][kStep + 4];  // [row of c][step of k]
  float b[kStep][kTileCols];      // [step of k][column of c]
};
constexpr int kStages = 3;
constexpr int kBytes = kStages * sizeof(Tiles);

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
  Tiles* const ring = reinterpret_cast<Tiles*>(shared);  // kStages of them
  const auto begin = [&](int first, Tiles& tiles) {
    if (first < k) {
#pragma unroll
      for (int j = 0; j < kLoadsA; ++j) {
        const int e = t + j * kThreads, r = e / (kStep / 4), at = e % (kStep / 4) * 4;
        copy4_async<kEdges>(&tiles.a[r][at], a + static_cast<size_t>(first_row + r) * k + first + at,
                            m - first_row - r, k - first - at);
      }
#pragma unroll
      for (int j = 0; j < kLoadsB; ++j) {
        const int e = t + j * kThreads, i = e / (kTileCols / 4), at = e % (kTileCols / 4) * 4;
        copy4_async<kEdges>(&tiles.b[i][at], b + static_cast<size_t>(first + i) * n + first_col + at,
                            k - first - i, n - first_col - at);
      }
    }
    close_copy_group();  // also an empty one: groups are counted
  };
#pragma unroll
  for (int s = 0; s < kStages - 1; ++s) begin(s * kStep, ring[s]);
  int now = 0, next = kStages - 1;
  for (int first = 0; first < k; first += kStep) {
    wait_for_copies<kStages - 2>();
    __syncthreads();  // ring[now] is complete, and nobody reads ring[next] any more
    begin(first + (kStages - 1) * kStep, ring[next]);
    const Tiles& tiles = ring[now];
#pragma unroll
    for (int i = 0; i < kStep; i += 4) {
      float4 x[Block::kRows];  // four steps of k of each row
#pragma unroll
      for (int r = 0; r < Block::kRows; ++r) {
        x[r] = four(&tiles.a[row + r / 4 * 4 * Block::kLanesY + r % 4][i]);
      }
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        float4 y[Block::kCols / 4];
#pragma unroll
        for (int s = 0; s < Block::kCols / 4; ++s) {
          y[s] = four(&tiles.b[i + j][col + 4 * Block::kLanesX * s]);
        }
#pragma unroll
        for (int r = 0; r < Block::kRows; ++r) {
          const float from_a = j == 0 ? x[r].x : j == 1 ? x[r].y : j == 2 ? x[r].z : x[r].w;
#pragma unroll
          for (int s = 0; s < Block::kCols / 4; ++s) {
            sums[r][4 * s] += from_a * y[s].x;
            sums[r][4 * s + 1] += from_a * y[s].y;
            sums[r][4 * s + 2] += from_a * y[s].z;
            sums[r][4 * s + 3] += from_a * y[s].w;
          }
        }
      }
    }
    now = now + 1 == kStages ? 0 : now + 1;
    next = next + 1 == kStages ? 0 : next + 1;
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
