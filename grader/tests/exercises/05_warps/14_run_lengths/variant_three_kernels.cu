// Another right answer: three kernels. Count the runs that begin in each tile, scan the counts in
// one block, write.
#include "14_run_lengths.h"

constexpr int kThreads = 256;
constexpr int kTileOfBlock = 4 * kThreads;  // elements, four rounds

__device__ int scan_lanes(int value) {
  for (int offset = 1; offset < 32; offset *= 2) {
    const int before = __shfl_up_sync(0xffffffffu, value, offset);
    if (static_cast<int>(threadIdx.x % 32) >= offset) value += before;
  }
  return value;
}

// The sum of the values of threads 0 to t; *total is that of all.
__device__ int scan_block(int value, int* total) {
  __shared__ int of_warp[kThreads / 32];  // [warp]
  const int warp = threadIdx.x / 32;
  value = scan_lanes(value);
  if (threadIdx.x % 32 == 31) of_warp[warp] = value;
  __syncthreads();  // all read the totals of the warps
  *total = 0;
  for (int w = 0; w < kThreads / 32; ++w) {
    if (w < warp) value += of_warp[w];
    *total += of_warp[w];
  }
  __syncthreads();  // the next call writes of_warp
  return value;
}

__device__ bool begins_run(const int* x, int i, int n) {
  const int own = i < n ? x[i] : 0;
  const int left = __shfl_up_sync(0xffffffffu, own, 1);
  if (i >= n) return false;
  return i == 0 || own != (threadIdx.x % 32 == 0 ? x[i - 1] : left);
}

__global__ void count_runs(const int* x, int* counts, int n) {
  int runs = 0, total = 0;
  for (int k = 0; k < 4; ++k) {
    runs += begins_run(x, blockIdx.x * kTileOfBlock + k * kThreads + threadIdx.x, n);
  }
  scan_block(runs, &total);
  if (threadIdx.x == 0) counts[blockIdx.x] = total;
}

// counts[t] becomes the number of runs that begin in tiles 0 to t.
__global__ void scan_counts(int* counts, int* count, int* starts, int tiles, int n) {
  int carry = 0;
  for (int begin = 0; begin < tiles; begin += kThreads) {
    const int tile = begin + threadIdx.x;
    int total = 0;
    const int sum = scan_block(tile < tiles ? counts[tile] : 0, &total);
    if (tile < tiles) counts[tile] = carry + sum;
    carry += total;
  }
  if (threadIdx.x == 0) {
    *count = carry;
    starts[carry] = n;
  }
}

__global__ void write_runs(const int* x, const int* counts, int* values, int* starts, int n) {
  int place = blockIdx.x == 0 ? 0 : counts[blockIdx.x - 1];
  for (int k = 0; k < 4; ++k) {
    const int i = blockIdx.x * kTileOfBlock + k * kThreads + threadIdx.x;
    const bool begins = begins_run(x, i, n);
    int total = 0;
    const int sum = scan_block(begins, &total);
    if (begins) {
      values[place + sum - 1] = x[i];
      starts[place + sum - 1] = i;
    }
    place += total;
  }
}

void launch_run_lengths(const int* d_x, int* d_values, int* d_starts, int* d_count,
                        unsigned long long* d_workspace, int n) {
  const int tiles = (n + kTileOfBlock - 1) / kTileOfBlock;
  int* counts = reinterpret_cast<int*>(d_workspace);
  if (tiles > 0) count_runs<<<tiles, kThreads>>>(d_x, counts, n);
  scan_counts<<<1, kThreads>>>(counts, d_count, d_starts, tiles, n);
  if (tiles > 0) write_runs<<<tiles, kThreads>>>(d_x, counts, d_values, d_starts, n);
}
