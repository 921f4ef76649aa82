// Design: 128x128 tile, 4 warps of 64x64, step 64, 3 stages, padded
#include "15_matmul_wmma.h"
#include "15_matmul_wmma_support.h"

namespace wmma = nvcuda::wmma;

constexpr int kSide = 16;                            // rows, columns and depth of a fragment
constexpr int kTileRows = 128, kTileCols = 128;    // of c, per block
constexpr int kWarpRows = 64, kWarpCols = 64;    // of c, per warp
constexpr int kStep = 64;                        // of k, per stage
constexpr int kStages = 3;                    // pairs of tiles in shared memory
constexpr int kWarpsX = kTileCols / kWarpCols;       // warps side by side
constexpr int kThreads = 32 * kWarpsX * (kTileRows / kWarpRows);
constexpr int kDown = kWarpRows / kSide, kAcross = kWarpCols / kSide;  // fragments of a warp
constexpr int kPitchA = kStep + 8, kPitchB = kTileCols + 8;
constexpr int kTileA = kTileRows * kPitchA, kTileB = kStep * kPitchB;  // elements
constexpr int kSharedBytes = sizeof(__nv_bfloat16) * kStages * (kTileA + kTileB);

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

__device__ void multiply_step(Sums (&sums)[kDown][kAcross], const __nv_bfloat16* tile_a,
                              const __nv_bfloat16* tile_b) {
#pragma unroll
  for (int i = 0; i < kStep; i += kSide) {
    FragmentA from_a[kDown];
#pragma unroll
    for (int r = 0; r < kDown; ++r) load_shared(from_a[r], tile_a + r * kSide * kPitchA + i, kPitchA);
#pragma unroll
    for (int s = 0; s < kAcross; ++s) {
      FragmentB from_b;
      load_shared(from_b, tile_b + i * kPitchB + s * kSide, kPitchB);
#pragma unroll
      for (int r = 0; r < kDown; ++r) wmma::mma_sync(sums[r][s], from_a[r], from_b, sums[r][s]);
    }
  }
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
#pragma unroll
  for (int r = 0; r < kDown; ++r) {
#pragma unroll
    for (int s = 0; s < kAcross; ++s) wmma::fill_fragment(sums[r][s], 0.0f);
  }
  __nv_bfloat16* stages = reinterpret_cast<__nv_bfloat16*>(shared);
  const int steps = (k + kStep - 1) / kStep;
  for (int step = 0; step < kStages - 1; ++step) {
    begin_step<kWhole>(stages, a, b, first_row, first_col, step, m, n, k, aligned);
  }
  for (int step = 0; step < steps; ++step) {
    wait_for_copies<kStages - 2>();
    __syncthreads();  // this step is complete, and the stage that is filled next is free
    begin_step<kWhole>(stages, a, b, first_row, first_col, step + kStages - 1, m, n, k, aligned);
    const __nv_bfloat16* tile_a = stages + step % kStages * (kTileA + kTileB);
    multiply_step(sums, tile_a + warp_row * kPitchA, tile_a + kTileA + warp_col);
  }
  wait_for_copies<0>();
  __syncthreads();  // the stages become scratch memory
  float* scratch = reinterpret_cast<float*>(shared) + warp * kSide * kSide;
#pragma unroll
  for (int r = 0; r < kDown; ++r) {
#pragma unroll
    for (int s = 0; s < kAcross; ++s) {
      const int row = first_row + warp_row + r * kSide, col = first_col + warp_col + s * kSide;
      if (kWhole || (aligned && row + kSide <= m && col + kSide <= n)) {
        wmma::store_matrix_sync(c + static_cast<size_t>(row) * n + col, sums[r][s], n,
                                wmma::mem_row_major);
      } else {
        store_inside(c, sums[r][s], scratch, row, col, m, n);
      }
    }
  }
}

void launch_matmul_wmma(const __nv_bfloat16* d_a, const __nv_bfloat16* d_b, float* d_c, int m,
                        int n, int k) {
  const dim3 grid((m + kTileRows - 1) / kTileRows, (n + kTileCols - 1) / kTileCols);
  if (grid.x == 0 || grid.y == 0) return;
  const bool aligned = rows_are_aligned(d_a, d_b, d_c, n, k);
  const bool whole = aligned && m % kTileRows == 0 && n % kTileCols == 0 && k % kStep == 0;
  const auto kernel = whole ? matmul_wmma<true> : matmul_wmma<false>;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  kernel<<<grid, kThreads, kSharedBytes>>>(d_a, d_b, d_c, m, n, k, aligned);
}
