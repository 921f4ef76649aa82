// Three kernels by ballots; the left neighbour by shuffle
#include "14_run_lengths.h"
__device__ bool begins(const int* x, int i, int n, int* mine) {
  const int v = i < n ? x[i] : 0;
  *mine = v;
  int left = __shfl_up_sync(~0u, v, 1);
  if (threadIdx.x % 32 == 0 && i > 0 && i < n) left = x[i - 1];
  return i < n && (i == 0 || v != left);
}
__global__ void count_tiles(const int* x, int* tiles, int n) {
  __shared__ int w[8];
  int c = 0;
  for (int k = 0; k < 8; ++k) {
    const int i = blockIdx.x * 2048 + k * 256 + threadIdx.x;
    int v;
    c += __popc(__ballot_sync(~0u, begins(x, i, n, &v)));
  }
  if (threadIdx.x % 32 == 0) w[threadIdx.x / 32] = c;
  __syncthreads();
  if (threadIdx.x == 0) { int s = 0; for (int k = 0; k < 8; ++k) s += w[k]; tiles[blockIdx.x] = s; }
}
__global__ void scan_tiles(int* tiles, int number, int* count, int* starts, int n) {
  __shared__ int w[32];
  int carry = 0;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int t0 = 0; t0 < number; t0 += 1024) {
    const int t = t0 + threadIdx.x;
    const int mine = t < number ? tiles[t] : 0;
    int v = mine;
    for (int o = 1; o < 32; o *= 2) { const int b = __shfl_up_sync(~0u, v, o); if (lane >= o) v += b; }
    if (lane == 31) w[warp] = v;
    __syncthreads();
    if (warp == 0) { int s = w[lane]; for (int o = 1; o < 32; o *= 2) { const int b = __shfl_up_sync(~0u, s, o); if (lane >= o) s += b; } w[lane] = s; }
    __syncthreads();
    if (warp > 0) v += w[warp - 1];
    if (t < number) tiles[t] = carry + v - mine;
    carry += w[31];
    __syncthreads();
  }
  if (threadIdx.x == 0) { *count = carry; starts[carry] = n; }
}
__global__ void write_runs(const int* x, const int* tiles, int* values, int* starts, int n) {
  __shared__ int w[8];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned m[8];
  int v[8];
  int c = 0;
  const int base = blockIdx.x * 2048 + warp * 256;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const int i = base + k * 32 + lane;
    m[k] = __ballot_sync(~0u, begins(x, i, n, &v[k]));
    c += __popc(m[k]);
  }
  if (lane == 0) w[warp] = c;
  __syncthreads();
  int at = tiles[blockIdx.x];
  for (int k = 0; k < warp; ++k) at += w[k];
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const int i = base + k * 32 + lane;
    if (m[k] >> lane & 1) { const int r = at + __popc(m[k] & ((1u << lane) - 1)); values[r] = v[k]; starts[r] = i; }
    at += __popc(m[k]);
  }
}
void launch_run_lengths(const int* d_x, int* d_values, int* d_starts, int* d_count, unsigned long long* d_workspace, int n) {
  int* tiles = reinterpret_cast<int*>(d_workspace);
  const int number = (n + 2047) / 2048;
  if (number > 0) count_tiles<<<number, 256>>>(d_x, tiles, n);
  scan_tiles<<<1, 1024>>>(tiles, number, d_count, d_starts, n);
  if (number > 0) write_runs<<<number, 256>>>(d_x, tiles, d_values, d_starts, n);
}
