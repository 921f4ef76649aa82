// 10/05 Data parallel: the gradient of a linear model on one device, in one pass over its rows.
#include <algorithm>

#include "05_data_parallel.h"

constexpr int kBlock = 256;                      // threads
constexpr int kWarp = 32;                        // lanes
constexpr int kColumns = kMostFeatures / kWarp;  // features of a lane: lane, lane + 32, ...
constexpr unsigned kAll = 0xffffffffu;

// One warp per row, from row to row. Each lane keeps its weights and its part of the gradient in
// registers; blocks add up in shared memory first.
__global__ void linear_gradient(const float* x, const float* y, const float* w, float* gradient,
                                int rows, int features) {
  __shared__ float of_block[kMostFeatures];
  const int lane = threadIdx.x % kWarp;
  const int warps = gridDim.x * (kBlock / kWarp);
  float weights[kColumns], sums[kColumns];  // of features lane, lane + 32, ...
#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
    const int f = c * kWarp + lane;
    weights[c] = f < features ? w[f] : 0.0f;
    sums[c] = 0.0f;
  }
  for (int f = threadIdx.x; f < features; f += kBlock) of_block[f] = 0.0f;
  __syncthreads();  // zeros before the first addition

  for (int row = (blockIdx.x * kBlock + threadIdx.x) / kWarp; row < rows; row += warps) {
    const float* values = x + static_cast<size_t>(row) * features;
    float mine[kColumns];
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      const int f = c * kWarp + lane;
      mine[c] = f < features ? values[f] : 0.0f;
    }
    float prediction = 0.0f;
#pragma unroll
    for (int c = 0; c < kColumns; ++c) prediction += mine[c] * weights[c];
    for (int half = kWarp / 2; half > 0; half /= 2) {
      prediction += __shfl_xor_sync(kAll, prediction, half);
    }
    const float slope = 2.0f * (prediction - y[row]);
#pragma unroll
    for (int c = 0; c < kColumns; ++c) sums[c] += slope * mine[c];
  }

#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
    const int f = c * kWarp + lane;
    if (f < features) atomicAdd(&of_block[f], sums[c]);
  }
  __syncthreads();  // all warps have added
  for (int f = threadIdx.x; f < features; f += kBlock) atomicAdd(&gradient[f], of_block[f]);
}

__global__ void descend_alone(float* w, const float* gradient, float rate, int features) {
  const int f = threadIdx.x;
  if (f < features) w[f] -= rate * gradient[f];
}

cudaError_t launch_gradient(const Shard& shard, int features) {
  cudaError_t error = cudaMemsetAsync(shard.gradient, 0, features * sizeof(float), shard.stream);
  if (error != cudaSuccess || shard.rows == 0) return error;
  int device = 0, multiprocessors = 0;
  cudaGetDevice(&device);
  error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (error != cudaSuccess) return error;
  constexpr int kRowsPerBlock = kBlock / kWarp, kBlocksPerMultiprocessor = 8;
  const int enough = (shard.rows + kRowsPerBlock - 1) / kRowsPerBlock;
  const int resident = kBlocksPerMultiprocessor * multiprocessors;
  const int grid = std::min(enough, resident);
  linear_gradient<<<grid, kBlock, 0, shard.stream>>>(shard.x, shard.y, shard.w, shard.gradient,
                                                     shard.rows, features);
  return cudaGetLastError();
}

cudaError_t train_alone(const Shard& shard, int features, float rate, int steps) {
  for (int step = 0; step < steps; ++step) {
    const cudaError_t error = launch_gradient(shard, features);
    if (error != cudaSuccess) return error;
    descend_alone<<<1, kMostFeatures, 0, shard.stream>>>(shard.w, shard.gradient, rate / shard.rows,
                                                         features);
  }
  return cudaGetLastError();
}
