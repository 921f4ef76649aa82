// Four float4 under way, tail by the first threads
#include "09_reduction_atomic.h"
#include "support.h"
constexpr int kBlock = 512;
__device__ float block_sum(float v) {
  __shared__ float s[kBlock / 32];
  v = warp_sum(v);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) v = warp_sum(threadIdx.x < kBlock / 32 ? s[threadIdx.x] : 0.0f);
  return v;
}
__global__ void __launch_bounds__(kBlock) reduce_atomic(const float* x, float* sum, int n) {
  float v = 0.0f;
  const float4* x4 = reinterpret_cast<const float4*>(x);
  const int fours = n / 4, stride = gridDim.x * kBlock, id = blockIdx.x * kBlock + threadIdx.x;
  for (int i = id; i < fours; i += 4 * stride) {
    float4 q[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) q[k] = i + k * stride < fours ? x4[i + k * stride] : make_float4(0, 0, 0, 0);
#pragma unroll
    for (int k = 0; k < 4; ++k) v += (q[k].x + q[k].y) + (q[k].z + q[k].w);
  }
  if (id < n % 4) v += x[fours * 4 + id];
  v = block_sum(v);
  if (threadIdx.x == 0) atomicAdd(sum, v);
}
void launch_reduction_atomic(const float* d_x, float* d_sum, int n) {
  cudaMemsetAsync(d_sum, 0, sizeof(float));
  if (n <= 0) return;
  const int need = (n + 16 * kBlock - 1) / (16 * kBlock), most = blocks_on_card(reduce_atomic, kBlock);
  reduce_atomic<<<need < most ? need : most, kBlock>>>(d_x, d_sum, n);
}
