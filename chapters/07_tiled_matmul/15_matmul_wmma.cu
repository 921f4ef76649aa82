// 07/15 Matmul on tensor cores: a warp multiplies 16 x 16 x 16 numbers with one call.
//   a  m x k,  b  k x n: bfloat16;  c  m x n: float; row-major, in device memory; c = a b
//   Any sizes from 0; a sum of no products is 0. No matrix has 2^31 elements or more.
//   A block of 4 warps makes a tile of 128 x 128 elements of c, a warp 64 x 64 of them: 4 x 4
//   fragments. The tiles of a and b go to shared memory by copies in the background, two steps of
//   k ahead. support.h and 15_matmul_wmma_support.h have the copies and the edges.
//   TODOs  3
#include "15_matmul_wmma.h"
#include "15_matmul_wmma_support.h"

namespace wmma = nvcuda::wmma;

constexpr int kSide = 16;                        // rows, columns and depth of a fragment
constexpr int kTileRows = 128, kTileCols = 128;  // of c, per block
constexpr int kWarpRows = 64, kWarpCols = 64;    // of c, per warp
constexpr int kStep = 64;                        // of k, per stage
constexpr int kStages = 3;                       // pairs of tiles in shared memory
constexpr int kWarpsX = kTileCols / kWarpCols;   // warps side by side
constexpr int kThreads = 32 * kWarpsX * (kTileRows / kWarpRows);
constexpr int kDown = kWarpRows / kSide, kAcross = kWarpCols / kSide;  // fragments of a warp
// Elements from row to row: eight rows of a fragment, 16 bytes each, lie in different banks.
constexpr int kPitchA = kStep + kChunk, kPitchB = kTileCols + kChunk;
constexpr int kTileA = kTileRows * kPitchA, kTileB = kStep * kPitchB;  // elements
constexpr int kSharedBytes = sizeof(__nv_bfloat16) * kStages * (kTileA + kTileB);

// Begins to copy what step number `step` multiplies to its stage, if there is such a step.
template <bool kWhole>
__device__ void begin_step(__nv_bfloat16* stages, const __nv_bfloat16* a, const __nv_bfloat16* b,
                           int first_row, int first_col, int step, int m, int n, int k,
                           bool aligned) {
  const int i = step * kStep;
  __nv_bfloat16* tile_a = stages + step % kStages * (kTileA + kTileB);
  __nv_bfloat16* tile_b = tile_a + kTileA;
  if (i < k && (kWhole || aligned)) {
    copy_tile_async<kWhole, kTileRows, kStep, kPitchA, kThreads>(tile_a, a, first_row, i, m, k);
    copy_tile_async<kWhole, kStep, kTileCols, kPitchB, kThreads>(tile_b, b, i, first_col, k, n);
  } else if (i < k) {
    copy_tile_by_elements<kTileRows, kStep, kPitchA, kThreads>(tile_a, a, first_row, i, m, k);
    copy_tile_by_elements<kStep, kTileCols, kPitchB, kThreads>(tile_b, b, i, first_col, k, n);
  }
  close_copy_group();  // also an empty one: groups are counted
}

// tile_a and tile_b point to this warp's rows of a (kPitchA apart) and columns of b (kPitchB).
__device__ void multiply_step(Sums (&sums)[kDown][kAcross], const __nv_bfloat16* tile_a,
                              const __nv_bfloat16* tile_b) {
  // TODO(1): All products of this step: kStep / kSide times, kDown fragments of a with kAcross of
  // b. What a fragment needs is loaded once (load_shared).
}

template <bool kWhole>
__global__ void __launch_bounds__(kThreads, 2)
    matmul_wmma(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c, int m, int n, int k,
                bool aligned) {
  extern __shared__ __align__(128) unsigned char shared[];
  const int warp = threadIdx.x / 32;
  const int warp_row = warp / kWarpsX * kWarpRows, warp_col = warp % kWarpsX * kWarpCols;
  const int first_row = blockIdx.x * kTileRows, first_col = blockIdx.y * kTileCols;
  Sums sums[kDown][kAcross];
  for (int r = 0; r < kDown; ++r) {
    for (int s = 0; s < kAcross; ++s) wmma::fill_fragment(sums[r][s], 0.0f);
  }
  // TODO(2): Copies run kStages - 1 steps ahead of the products (begin_step closes a group, also
  // an empty one). A step is multiplied when all threads' copies of it have come, and a stage is
  // filled when all warps are done with it. Behind the loop, the stages become scratch memory.
  float* scratch = reinterpret_cast<float*>(shared) + warp * kSide * kSide;
  // TODO(3): Every fragment goes to its place in c: with store_matrix_sync where all of it lies in
  // c and rows are aligned, with store_inside otherwise.
  store_inside(c, sums[0][0], scratch, first_row + warp_row, first_col + warp_col, m, n);
}

void launch_matmul_wmma(const __nv_bfloat16* d_a, const __nv_bfloat16* d_b, float* d_c, int m,
                        int n, int k) {
  const dim3 grid((m + kTileRows - 1) / kTileRows, (n + kTileCols - 1) / kTileCols);
  if (grid.x == 0 || grid.y == 0) return;
  const bool aligned = rows_are_aligned(d_a, d_b, d_c, n, k);
  const bool whole = aligned && m % kTileRows == 0 && n % kTileCols == 0 && k % kStep == 0;
  const auto kernel = whole ? matmul_wmma<true> : matmul_wmma<false>;
  // More than 48 KiB must be asked for.
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  kernel<<<grid, kThreads, kSharedBytes>>>(d_a, d_b, d_c, m, n, k, aligned);
}
