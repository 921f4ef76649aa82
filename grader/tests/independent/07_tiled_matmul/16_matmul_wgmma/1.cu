// Design: persistent, 128x256 tiles, 2 groups, 4 stages, one step in flight
#include "16_matmul_wgmma.h"
#include "16_matmul_wgmma_support.h"
#include "support.h"

constexpr int kGroups = 2;                             // of 128 threads that multiply
constexpr int kTileRows = 64 * kGroups, kTileCols = 256;  // of c
constexpr int kStep = 64;                                 // of k, per stage: 128 bytes
constexpr int kDepth = 16;                                // of k, per wgmma
constexpr int kStages = 4;
constexpr int kThreads = 128 * kGroups + 32;
constexpr int kElement = sizeof(__nv_bfloat16);
constexpr int kBytesA = kTileRows * kStep * kElement;  // [row][kStep]
constexpr int kSlice = kStep * 64 * kElement;          // [kStep][64 columns]: a quarter of tile_b
constexpr int kBytesB = kTileCols / 64 * kSlice;
constexpr int kAlignment = 1024;  // of tiles whose parts are swapped
constexpr int kSharedBytes = kStages * (kBytesA + kBytesB) + kAlignment;

struct Work {
  int m, n, k;
  int tile_rows, tile_cols;  // of tiles that c is cut into
  __device__ int tiles() const { return tile_rows * tile_cols; }
};

// The stage that is next, and the parity of its phase.
struct Position {
  int stage = 0, parity = 0;
  __device__ void advance() {
    if (++stage == kStages) stage = 0, parity ^= 1;
  }
};

__device__ void fill_stage(unsigned char* tile_a, const CUtensorMap* map_a,
                           const CUtensorMap* map_b, int row, int col, int i, uint64_t* full,
                           uint64_t* empty, int parity) {
  wait(empty, parity ^ 1);  // before its first use it is as if a phase of parity 1 had ended
  arrive_and_expect(full, kBytesA + kBytesB);
  copy_box(tile_a, map_a, i, row, full);
#pragma unroll
  for (int slice = 0; slice < kTileCols / 64; ++slice) {
    copy_box(tile_a + kBytesA + slice * kSlice, map_b, col + 64 * slice, i, full);
  }
}

// One thread of the last warp: asks for all tiles, a stage at a time.
__device__ void load_tiles(const CUtensorMap* map_a, const CUtensorMap* map_b,
                           unsigned char* stages, uint64_t* full, uint64_t* empty,
                           const Work& work) {
  Position next;
  for (int turn = blockIdx.x; turn < work.tiles(); turn += gridDim.x) {
    const TilePosition tile = tile_of_block(turn, work.tile_rows, work.tile_cols);
    for (int i = 0; i < work.k; i += kStep) {
      fill_stage(stages + next.stage * (kBytesA + kBytesB), map_a, map_b, tile.row * kTileRows,
                 tile.col * kTileCols, i, &full[next.stage], &empty[next.stage], next.parity);
      next.advance();
    }
  }
}

// Begins to multiply 64 rows of a stage, in the background.
__device__ void multiply_stage(float (&sums)[kSums], const unsigned char* tile_a,
                               const unsigned char* tile_b) {
#pragma unroll
  for (int part = 0; part < kStep / kDepth; ++part) {
    wgmma(sums, describe_shared(tile_a + part * kDepth * kElement, 16),
          describe_shared(tile_b + part * kDepth * 128, kSlice));
  }
}

// Writes the sums of 64 x 256 elements of c from (row, col) on, as far as c goes.
__device__ void store_sums(const float (&sums)[kSums], float* c, int row, int col, int m, int n) {
  const int t = threadIdx.x % 128;
  row += t / 32 * 16 + t % 32 / 4;
  col += t % 4 * 2;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    if (row + 8 * half >= m) continue;
    float* to = c + static_cast<size_t>(row + 8 * half) * n + col;
#pragma unroll
    for (int j = 0; j < kTileCols / 8; ++j) {
      if (col + 8 * j < n) {
        *reinterpret_cast<float2*>(to + 8 * j) =
            make_float2(sums[4 * j + 2 * half], sums[4 * j + 2 * half + 1]);
      }
    }
  }
}

// The 128 threads of a group: multiply what arrives, 64 rows of every tile.
__device__ void multiply_tiles(const unsigned char* stages, uint64_t* full, uint64_t* empty,
                               float* c, const Work& work) {
  const int group_row = threadIdx.x / 128 * 64;
  const bool speaks = threadIdx.x % 128 == 0;  // one arrival per group
  Position next;
  for (int turn = blockIdx.x; turn < work.tiles(); turn += gridDim.x) {
    float sums[kSums] = {};
    int before = -1;  // the stage that is still being multiplied
    for (int i = 0; i < work.k; i += kStep) {
      const unsigned char* tile_a = stages + next.stage * (kBytesA + kBytesB);
      wait(&full[next.stage], next.parity);
      begin_wgmma();
      multiply_stage(sums, tile_a + group_row * kStep * kElement, tile_a + kBytesA);
      close_wgmma_group();
      wait_for_wgmma<1>();  // this step goes on in the background, the one before has ended
      if (speaks && before >= 0) arrive(&empty[before]);
      before = next.stage;
      next.advance();
    }
    wait_for_wgmma<0>();
    if (speaks && before >= 0) arrive(&empty[before]);
    const TilePosition tile = tile_of_block(turn, work.tile_rows, work.tile_cols);
    store_sums(sums, c, tile.row * kTileRows + group_row, tile.col * kTileCols, work.m, work.n);
  }
}

__global__ void __launch_bounds__(kThreads, 1)
    matmul_wgmma(const __grid_constant__ CUtensorMap map_a,
                 const __grid_constant__ CUtensorMap map_b, float* c, Work work) {
  extern __shared__ unsigned char shared[];
  __shared__ uint64_t full[kStages], empty[kStages];
  unsigned char* stages = shared + (kAlignment - shared_address(shared) % kAlignment) % kAlignment;
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      init_barrier(&full[stage], 1);         // the thread that loads
      init_barrier(&empty[stage], kGroups);  // one thread of each group
    }
    publish_barriers();
  }
  __syncthreads();
  if (threadIdx.x < 128 * kGroups) {
    multiply_tiles(stages, full, empty, c, work);
  } else if (threadIdx.x == 128 * kGroups) {
    load_tiles(&map_a, &map_b, stages, full, empty, work);
  }
}

void launch_matmul_wgmma(const __nv_bfloat16* d_a, const __nv_bfloat16* d_b, float* d_c, int m,
                         int n, int k) {
  if (m == 0 || n == 0) return;
  if (k == 0) {  // the copy engine knows no matrix without elements
    cudaMemsetAsync(d_c, 0, static_cast<size_t>(m) * n * sizeof(float));
    return;
  }
  const Work work = {m, n, k, (m + kTileRows - 1) / kTileRows, (n + kTileCols - 1) / kTileCols};
  const int tiles = work.tile_rows * work.tile_cols;
  int device = 0, multiprocessors = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  const int most = 1 * multiprocessors, blocks = tiles < most ? tiles : most;
  const CUtensorMap map_a = describe(d_a, m, k, kTileRows), map_b = describe(d_b, k, n, kStep);
  cudaFuncSetAttribute(matmul_wgmma, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  matmul_wgmma<<<blocks, kThreads, kSharedBytes>>>(map_a, map_b, d_c, work);
}
