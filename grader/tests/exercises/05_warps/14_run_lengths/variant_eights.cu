// Another right answer: eight neighbours per lane, a run's place from a scan of counts over lanes,
// and one thread of each block that looks back over tiles until one knows all that is before it.
#include "14_run_lengths.h"

constexpr int kThreads = 128, kEach = 8;
constexpr int kTileOfBlock = kThreads * kEach;  // 1024 elements
// What a tile says of its runs: their number, or with those of all tiles before it. 0 is nothing.
constexpr unsigned long long kOwn = 1ull << 62, kWithAllBefore = 1ull << 63, kNumber = kOwn - 1;

__global__ void find_runs_by_eights(const int* x, int* values, int* starts, int* count,
                                    volatile unsigned long long* prefixes, unsigned* next, int n) {
  __shared__ int tile, before_tile;
  __shared__ int of_warp[kThreads / 32];  // [warp]
  if (threadIdx.x == 0) tile = atomicAdd(next, 1u);
  __syncthreads();  // all need the tile
  const int begin = tile * kTileOfBlock + threadIdx.x * kEach;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int value[kEach];
#pragma unroll
  for (int k = 0; k < kEach; ++k) value[k] = begin + k < n ? x[begin + k] : 0;
  const int left = __shfl_up_sync(0xffffffffu, value[kEach - 1], 1);
  int neighbour = left;
  if (lane == 0 && begin > 0 && begin < n) neighbour = x[begin - 1];
  unsigned begins = 0;  // bit k: a run begins at begin + k
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const int i = begin + k;
    if (i < n && (i == 0 || value[k] != neighbour)) begins |= 1u << k;
    neighbour = value[k];
  }
  int sum = __popc(begins);
  for (int offset = 1; offset < 32; offset *= 2) {
    const int before = __shfl_up_sync(0xffffffffu, sum, offset);
    if (lane >= offset) sum += before;
  }
  if (lane == 31) of_warp[warp] = sum;
  __syncthreads();  // all read the counts of the warps
  int total = 0, place = sum - __popc(begins);
  for (int w = 0; w < kThreads / 32; ++w) {
    if (w < warp) place += of_warp[w];
    total += of_warp[w];
  }
  if (threadIdx.x == 0) {
    // Said at once: nobody waits for a tile that waits itself.
    prefixes[tile] = (tile == 0 ? kWithAllBefore : kOwn) | static_cast<unsigned long long>(total);
    before_tile = 0;
    for (int earlier = tile - 1; earlier >= 0; --earlier) {
      unsigned long long said = 0;
      while (said == 0) said = prefixes[earlier];
      before_tile += static_cast<int>(said & kNumber);
      if ((said & kWithAllBefore) != 0) break;
    }
    prefixes[tile] = kWithAllBefore | static_cast<unsigned long long>(before_tile + total);
    if (tile == (n - 1) / kTileOfBlock) {
      *count = before_tile + total;
      starts[before_tile + total] = n;
    }
  }
  __syncthreads();  // all need what is before the tile
  place += before_tile;
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    if ((begins >> k & 1) == 0) continue;
    values[place] = value[k];
    starts[place] = begin + k;
    ++place;
  }
}

void launch_run_lengths(const int* d_x, int* d_values, int* d_starts, int* d_count,
                        unsigned long long* d_workspace, int n) {
  const int tiles = (n + kTileOfBlock - 1) / kTileOfBlock;
  cudaMemsetAsync(d_workspace, 0, (tiles + 1) * sizeof(*d_workspace));
  cudaMemsetAsync(d_count, 0, sizeof(int));
  cudaMemsetAsync(d_starts, 0, sizeof(int));
  if (tiles == 0) return;
  unsigned* next = reinterpret_cast<unsigned*>(d_workspace);
  find_runs_by_eights<<<tiles, kThreads>>>(d_x, d_values, d_starts, d_count, d_workspace + 1, next,
                                           n);
}
