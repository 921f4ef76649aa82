// Another right answer: four floats per thread, tiles of 1024, and totals that become what is
// before each tile.
#include "07_scan_three_kernels.h"
#include "07_scan_three_kernels_support.h"
#include "support.h"

constexpr int kThreads = 256;
constexpr int kTileOfBlock = 4 * kThreads;  // floats

// Thread t gets the sum of the values of threads 0 to t.
__device__ float scan_block(float value) {
  __shared__ float totals[kThreads / 32];  // [warp]
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  value = warp_inclusive_sum(value);
  if (lane == 31) totals[warp] = value;
  __syncthreads();  // all read the totals of the warps before
  for (int w = 0; w < warp; ++w) value += totals[w];
  __syncthreads();  // the next call writes totals
  return value;
}

__device__ float4 load_four(const float* x, int i, int n) {
  return make_float4(i < n ? x[i] : 0.0f, i + 1 < n ? x[i + 1] : 0.0f, i + 2 < n ? x[i + 2] : 0.0f,
                     i + 3 < n ? x[i + 3] : 0.0f);
}

__global__ void sum_tiles(const float* x, float* sums, int n) {
  const float4 v = load_four(x, blockIdx.x * kTileOfBlock + 4 * threadIdx.x, n);
  const float sum = scan_block((v.x + v.y) + (v.z + v.w));
  if (threadIdx.x == kThreads - 1) sums[blockIdx.x] = sum;
}

// sums becomes what is before each tile.
__global__ void scan_sums(float* sums, int tiles) {
  __shared__ float last;
  float carry = 0.0f;
  for (int begin = 0; begin < tiles; begin += kThreads) {
    const int tile = begin + threadIdx.x;
    const float own = tile < tiles ? sums[tile] : 0.0f;
    const float sum = carry + scan_block(own);
    const float before = __shfl_up_sync(kAllLanes, sum, 1);
    __shared__ float ends[kThreads / 32];  // [warp]
    if (threadIdx.x % 32 == 31) ends[threadIdx.x / 32] = sum;
    if (threadIdx.x == kThreads - 1) last = sum;
    __syncthreads();  // all read the end of the warp before, and the last
    const int warp = threadIdx.x / 32;
    const float start = threadIdx.x % 32 != 0 ? before : warp == 0 ? carry : ends[warp - 1];
    if (tile < tiles) sums[tile] = start;
    carry = last;
    __syncthreads();  // the next round writes last and ends
  }
}

__global__ void scan_tiles_after(const float* x, const float* before, float* y, int n) {
  const int i = blockIdx.x * kTileOfBlock + 4 * threadIdx.x;
  float4 v = load_four(x, i, n);
  v.y += v.x;
  v.z += v.y;
  v.w += v.z;
  __shared__ float ends[kThreads / 32];  // [warp]
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const float sum = warp_inclusive_sum(v.w);
  if (lane == 31) ends[warp] = sum;
  __syncthreads();  // all read the ends of the warps before
  const float shifted = __shfl_up_sync(kAllLanes, sum, 1);
  float start = before[blockIdx.x] + (lane == 0 ? 0.0f : shifted);
  for (int w = 0; w < warp; ++w) start += ends[w];
  v = make_float4(start + v.x, start + v.y, start + v.z, start + v.w);
  if (i < n) y[i] = v.x;
  if (i + 1 < n) y[i + 1] = v.y;
  if (i + 2 < n) y[i + 2] = v.z;
  if (i + 3 < n) y[i + 3] = v.w;
}

void launch_scan_three_kernels(const float* d_x, float* d_y, float* d_totals, int n) {
  if (n == 0) return;
  const int tiles = (n + kTileOfBlock - 1) / kTileOfBlock;
  sum_tiles<<<tiles, kThreads>>>(d_x, d_totals, n);
  scan_sums<<<1, kThreads>>>(d_totals, tiles);
  scan_tiles_after<<<tiles, kThreads>>>(d_x, d_totals, d_y, n);
}
