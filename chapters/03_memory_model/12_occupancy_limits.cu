// 03/12 Occupancy limits: how many blocks of a kernel run on a multiprocessor at the same time?
//   A block is admitted if there is a slot for it and for its threads, and enough registers and
//   shared memory; it keeps them until it ends. So there are four limits, and the least one counts.
//   The runtime knows the answer (cudaOccupancyMaxActiveBlocksPerMultiprocessor). Find it yourself.
//   TODOs  3
#include <algorithm>

#include "12_occupancy_limits.h"

constexpr int kWarp = 32;            // threads
constexpr int kVarianceBlock = 256;  // threads

constexpr int divide_up(int a, int b) { return (a + b - 1) / b; }
constexpr int round_up(int value, int unit) { return divide_up(value, unit) * unit; }

BlockLimits block_limits(const Card& card, const BlockNeeds& needs) {
  BlockLimits limits = {card.blocks, 0, 0, 0, 0};
  // TODO(1): by_threads and by_registers hold how many blocks these two allow (about 5 lines). A
  // block has whole warps, and a warp has all its registers in one quarter of the multiprocessor.
  // TODO(2): by_shared holds what shared memory allows, blocks how many run at once; a kernel
  // without shared memory is not limited by it (about 4 lines).
  return limits;
}

double occupancy(const Card& card, const BlockNeeds& needs, const BlockLimits& limits) {
  // Still TODO(2): The share of the card's warps that run at once (2 lines).
  return 0.0 * card.threads / kWarp * needs.threads * limits.blocks;
}

double waves(const Card& card, const BlockLimits& limits, int blocks_of_the_launch) {
  // Still TODO(2): How often the card is filled, with fractions; 0 where no block fits (2 lines).
  return 0.0 * card.multiprocessors * limits.blocks * blocks_of_the_launch;
}

// Three numbers the runtime does not tell. The unit of shared memory is 128 bytes from compute
// capability 8.0 on and 256 before; the other two are the same from 7.0 on.
Card card_of_device(int device) {
  const auto ask = [device](cudaDeviceAttr attribute) {
    int value = 0;
    cudaDeviceGetAttribute(&value, attribute, device);
    return value;
  };
  Card card;
  card.multiprocessors = ask(cudaDevAttrMultiProcessorCount);
  card.blocks = ask(cudaDevAttrMaxBlocksPerMultiprocessor);
  card.threads = ask(cudaDevAttrMaxThreadsPerMultiProcessor);
  card.registers = ask(cudaDevAttrMaxRegistersPerMultiprocessor);
  card.shared_bytes = ask(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  card.shared_reserved = ask(cudaDevAttrReservedSharedMemoryPerBlock);
  card.quarters = 4;
  card.register_unit = 256;
  card.shared_unit = ask(cudaDevAttrComputeCapabilityMajor) >= 8 ? 128 : 256;
  return card;
}

__global__ void negate(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] *= -1.0f; }

__global__ void reverse_in_shared(float* x, int n) {
  __shared__ float values[3200];  // 12,800 bytes
  for (int i = threadIdx.x; i < n; i += blockDim.x) values[i] = x[i];
  __syncthreads();  // values is filled before it is read the other way round
  for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = values[n - 1 - i];
}

// Keeps the 52 values of its column in registers, because it needs them twice: left alone, the
// compiler uses more than 64 registers, and three blocks fit.
// TODO(3): Promise at most kVarianceBlock threads per block and ask for room for 4 blocks per
// multiprocessor: __launch_bounds__, between __global__ void and the name.
__global__ void variance(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float value[kWeeks];
  float mean = 0.0f, squares = 0.0f;
#pragma unroll  // without it, value would be indexed at run time and leave the registers
  for (int k = 0; k < kWeeks; ++k) mean += value[k] = x[static_cast<size_t>(k) * n + i];
  mean /= kWeeks;
#pragma unroll
  for (int k = 0; k < kWeeks; ++k) squares += (value[k] - mean) * (value[k] - mean);
  y[i] = squares / kWeeks;
}

const void* light_kernel() { return reinterpret_cast<const void*>(negate); }
const void* staged_kernel() { return reinterpret_cast<const void*>(reverse_in_shared); }
const void* variance_kernel() { return reinterpret_cast<const void*>(variance); }

void launch_variance(const float* d_x, float* d_y, int n) {
  variance<<<divide_up(n, kVarianceBlock), kVarianceBlock>>>(d_x, d_y, n);
}
