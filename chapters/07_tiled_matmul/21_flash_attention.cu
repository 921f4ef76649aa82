// 07/21 Flash attention: softmax(q k^T / 8) v in one pass; no score ever leaves its warp.
//   q, out  heads x queries x 64 floats,  k, v  heads x keys x 64, row-major, aligned to 16 bytes
//   A warp has 32 queries of a head and goes along the keys in steps of 64, together with the other
//   warps of its block. Of each query it keeps the greatest score so far, the sum of the weights
//   exp(score - greatest), and the sums of weight * value. A new greatest scales all of them: the
//   online softmax of 05/10, with 64 sums more. (Products in registers, copies: the support file.)
//   TODOs  4
#include <algorithm>
#include <cfloat>

#include "21_flash_attention.h"
#include "21_flash_attention_support.h"

constexpr int kEach = 8;                        // queries of a lane; its keys; its columns of out
constexpr int kWarpQueries = 32, kKeys = 64;    // of a warp; of a step
constexpr int kMostWarps = 4;                   // of a block
constexpr float kScale = 0.125f * 1.44269504f;  // 1 / sqrt(64), and exp2 in the place of exp

// Shared memory of a block, and of each of its warps behind it. The pads let lanes that read or
// write different rows find them in different banks.
struct BlockTiles {
  float k[kKeys][kDim + 4];
  float v[kKeys][kDim];
};
struct WarpTiles {
  float q[kWarpQueries][kDim + 4];
  float weight[kWarpQueries][kKeys + 8];
};

// What lane (x, y) knows of its eight queries, which are y + 4 r.
struct State {
  float greatest[kEach];     // of the scores so far
  float total[kEach];        // of the weights of its own keys: those of the other lanes are missing
  float sums[kEach][kEach];  // [query][column: 4 x + 0 .. 3, and 32 more]: weight * value
};

// Turns the scores of a step, [query][key x + 8 c], into weights and takes them into account.
__device__ void add_step(State& state, float (&score)[kEach][kEach]) {
  for (int r = 0; r < kEach; ++r) {
    float greatest = state.greatest[r];
    // TODO(1): The greatest of what was and of all scores of this query, also those in other lanes
    // (greatest_of_row; about 2 lines).
    // TODO(2): Scale total and sums from the old greatest to the new one. Then replace each score by
    // its weight, exp2f(kScale * (score - greatest)), and add that to total (about 8 lines, in the
    // place of the next one).
    for (int c = 0; c < kEach; ++c) state.total[r] += score[r][c] = kScale;
    state.greatest[r] = greatest;
  }
}

// Hands the weights of a step to the other lanes of the warp.
__device__ void store_weights(WarpTiles& mine, Lane lane, const float (&weight)[kEach][kEach]) {
  for (int r = 0; r < kEach; ++r) {
    for (int c = 0; c < kEach; ++c) mine.weight[lane.y + 4 * r][lane.x + 8 * c] = weight[r][c];
  }
  __syncwarp();  // all have written before one reads; a barrier of the block comes before the next
}

// Divides by the sum of all weights and writes the queries of this warp, those that exist.
__device__ void write_out(const State& state, Lane lane, float* out, int first_query, int queries) {
  for (int r = 0; r < kEach; ++r) {
    const float total = state.total[r];  // TODO(3): The sum of all weights of this query: the
                                         // other lanes have theirs (sum_of_row).
    const int query = first_query + lane.y + 4 * r;
    if (query >= queries) continue;
    float* row = out + static_cast<size_t>(query) * kDim;
    const float* sums = state.sums[r];
    four(&row[4 * lane.x]) =
        make_float4(sums[0] / total, sums[1] / total, sums[2] / total, sums[3] / total);
    four(&row[4 * lane.x + 32]) =
        make_float4(sums[4] / total, sums[5] / total, sums[6] / total, sums[7] / total);
  }
}

__global__ void __launch_bounds__(32 * kMostWarps, 2)
    flash_attention(const float* q, const float* k, const float* v, float* out, int queries,
                    int keys) {
  extern __shared__ float4 memory[];
  BlockTiles& block = *reinterpret_cast<BlockTiles*>(memory);
  const int t = threadIdx.x, threads = blockDim.x, warp = t / 32;
  WarpTiles& mine = reinterpret_cast<WarpTiles*>(&block + 1)[warp];
  const Lane lane = lane_of(t % 32);
  const int first_query = (blockIdx.x * (threads / 32) + warp) * kWarpQueries;
  const size_t head = blockIdx.y;
  q += head * queries * kDim, out += head * queries * kDim;
  k += head * keys * kDim, v += head * keys * kDim;

  State state = {};
  for (int r = 0; r < kEach; ++r) state.greatest[r] = -FLT_MAX;
  load_rows(mine.q, q, first_query, queries, t % 32, 32);
  load_rows(block.k, k, 0, keys, t, threads);
  close_copy_group();
  for (int first = 0; first < keys; first += kKeys) {
    wait_for_copies<0>();
    __syncthreads();  // q and k of all threads are there; nobody needs the last v any more
    load_rows(block.v, v, first, keys, t, threads);
    close_copy_group();
    float score[kEach][kEach] = {};  // [query][key x + 8 c]
    add_rows_by_rows(mine.q, block.k, lane, score);
    wait_for_copies<0>();
    __syncthreads();  // v of all threads is there; nobody needs this k any more
    // TODO(4): What happens once v is there: the next keys are asked for, the scores become
    // weights, and weights times values go to the sums. The last step has fewer than kKeys keys,
    // and a key that does not exist must have no weight.
  }
  wait_for_copies<0>();
  write_out(state, lane, out, first_query, queries);
}

void launch_flash_attention(const float* d_q, const float* d_k, const float* d_v, float* d_out,
                            int heads, int queries, int keys) {
  if (heads == 0 || queries == 0) return;
  int device = 0, shared_bytes = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  // As many warps as the memory of a block has room for: 4 on an H200, 3 on an RTX 3070, 1 on a T4.
  const int room = (shared_bytes - static_cast<int>(sizeof(BlockTiles))) / sizeof(WarpTiles);
  const int warps = std::min({kMostWarps, room, (queries + kWarpQueries - 1) / kWarpQueries});
  const int bytes = sizeof(BlockTiles) + warps * sizeof(WarpTiles);
  cudaFuncSetAttribute(flash_attention, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  const int block_queries = warps * kWarpQueries;
  const dim3 grid((queries + block_queries - 1) / block_queries, heads);
  flash_attention<<<grid, 32 * warps, bytes>>>(d_q, d_k, d_v, d_out, queries, keys);
}
