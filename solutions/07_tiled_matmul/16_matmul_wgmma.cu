// 07/16 Matmul with wgmma: tensor cores that read shared memory themselves, and a copy engine.
//   a  m x k,  b  k x n: bfloat16;  c  m x n: float; row-major, in device memory; c = a b
//   n and k are multiples of 8, pointers of 16 bytes. m, n and k may be 0.
//   One block per multiprocessor takes tile after tile of 128 x 256 elements of c. Its last warp
//   has the copy engine fill four stages of shared memory, round and round; its two warpgroups of
//   four warps multiply, 64 rows each. For each stage there are two barriers: `full` ends a phase
//   when the bytes have come, `empty` when both groups have multiplied them.
//   TODOs  3
#include "16_matmul_wgmma.h"
#include "16_matmul_wgmma_support.h"
#include "support.h"

constexpr int kTileRows = 128, kTileCols = 256;  // of c
constexpr int kStep = 64;                        // of k, per stage: 128 bytes
constexpr int kDepth = 16;                       // of k, per wgmma
constexpr int kStages = 4;                       // 192 KiB of the 227 that a block can have
constexpr int kGroups = 2;                       // of 128 threads that multiply
constexpr int kThreads = 128 * kGroups + 32;
constexpr int kElement = sizeof(__nv_bfloat16);
constexpr int kBytesA = kTileRows * kStep * kElement;  // [row][kStep]
constexpr int kSlice = kStep * 64 * kElement;          // [kStep][64 columns]: a quarter of tile_b
constexpr int kBytesB = kTileCols / 64 * kSlice;
constexpr int kAlignment = 1024;  // of tiles whose parts are swapped
constexpr int kSharedBytes = kStages * (kBytesA + kBytesB) + kAlignment;

static_assert(kStep % kDepth == 0, "a step is a number of wgmmas");

// What there is to do.
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

// Fills a stage with 128 rows of a and 256 columns of b, kStep steps of k from i on.
__device__ void fill_stage(unsigned char* tile_a, const CUtensorMap* map_a,
                           const CUtensorMap* map_b, int row, int col, int i, uint64_t* full,
                           uint64_t* empty, int parity) {
  wait(empty, parity ^ 1);  // before its first use it is as if a phase of parity 1 had ended
  //~ // TODO(1): In the place of this arrival: say how many bytes will come, and copy the box of a
  //~ // and, behind it, the four boxes of b, 64 columns each (about 5 lines).
  //~ arrive(full);
  //~begin 1
  arrive_and_expect(full, kBytesA + kBytesB);
  copy_box(tile_a, map_a, i, row, full);
  for (int s = 0; s < kTileCols / 64; ++s) {
    copy_box(tile_a + kBytesA + s * kSlice, map_b, col + 64 * s, i, full);
  }
  //~end
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
  //~ // TODO(2): Multiply the four parts of the step, kDepth steps of k each. In tile_a they lie
  //~ // kDepth elements apart, in tile_b kDepth rows of 128 bytes (about 5 lines).
  //~begin 2
#pragma unroll
  for (int part = 0; part < kStep / kDepth; ++part) {
    wgmma(sums, describe_shared(tile_a + part * kDepth * kElement, 0),
          describe_shared(tile_b + part * kDepth * 128, kSlice));
  }
  //~end
}

// Writes the sums of 64 x 256 elements of c from (row, col) on, as far as c goes.
__device__ void store_sums(const float (&sums)[kSums], float* c, int row, int col, int m, int n) {
  const int t = threadIdx.x % 128;
  row += t / 32 * 16 + t % 32 / 4;
  col += t % 4 * 2;
  //~ // TODO(3): Write this thread's sums in pairs, 8 bytes each, where there is a row and a column
  //~ // for them. n is even (about 8 lines).
  //~ if (row < m && col < n) c[static_cast<size_t>(row) * n + col] = sums[0];
  //~begin 3
#pragma unroll
  for (int j = 0; j < kTileCols / 8; ++j) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int r = row + 8 * h, s = col + 8 * j;
      if (r < m && s < n) {
        const float2 pair = make_float2(sums[4 * j + 2 * h], sums[4 * j + 2 * h + 1]);
        *reinterpret_cast<float2*>(c + static_cast<size_t>(r) * n + s) = pair;
      }
    }
  }
  //~end
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
  __syncthreads();  // closes write against read: a barrier is used after it was made
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
  int device = 0, multiprocessors = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  const Work work = {m, n, k, (m + kTileRows - 1) / kTileRows, (n + kTileCols - 1) / kTileCols};
  const int tiles = work.tile_rows * work.tile_cols;
  const int blocks = tiles < multiprocessors ? tiles : multiprocessors;
  const CUtensorMap map_a = describe(d_a, m, k, kTileRows), map_b = describe(d_b, k, n, kStep);
  cudaFuncSetAttribute(matmul_wgmma, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  matmul_wgmma<<<blocks, kThreads, kSharedBytes>>>(map_a, map_b, d_c, work);
}
