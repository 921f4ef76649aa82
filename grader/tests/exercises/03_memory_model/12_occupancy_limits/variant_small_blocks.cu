// Another right answer: counts in threads and bytes, and asks the compiler with other bounds.
#include <algorithm>

#include "12_occupancy_limits.h"

constexpr int kWarp = 32;            // threads
constexpr int kVarianceBlock = 128;  // threads

constexpr int divide_up(int a, int b) { return (a + b - 1) / b; }
constexpr int round_up(int value, int unit) { return divide_up(value, unit) * unit; }

BlockLimits block_limits(const Card& card, const BlockNeeds& needs) {
  BlockLimits limits = {card.blocks, 0, 0, 0, 0};
  const int threads = round_up(needs.threads, kWarp);
  limits.by_threads = card.threads / threads;
  const int per_thread = round_up(needs.registers, card.register_unit / kWarp);
  const int threads_of_a_quarter = card.registers / card.quarters / per_thread / kWarp * kWarp;
  limits.by_registers = card.quarters * threads_of_a_quarter / threads;
  const int share = round_up(needs.shared_bytes + card.shared_reserved, card.shared_unit);
  limits.by_shared = card.blocks;
  if (share > 0) limits.by_shared = card.shared_bytes / share;
  limits.blocks =
      std::min({limits.by_slots, limits.by_threads, limits.by_registers, limits.by_shared});
  return limits;
}

double occupancy(const Card& card, const BlockNeeds& needs, const BlockLimits& limits) {
  const double warps = limits.blocks * divide_up(needs.threads, kWarp);
  return warps / (card.threads / kWarp);
}

double waves(const Card& card, const BlockLimits& limits, int blocks_of_the_launch) {
  if (limits.blocks == 0) return 0;
  return static_cast<double>(blocks_of_the_launch) / (limits.blocks * card.multiprocessors);
}

// Keeps the 52 values of its column in registers, because it needs them twice: left alone, the
// compiler uses more than 64 registers, and three blocks fit.
__global__ void __launch_bounds__(128, 8) variance(const float* x, float* y, int n) {
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

const void* variance_kernel() { return reinterpret_cast<const void*>(variance); }

void launch_variance(const float* d_x, float* d_y, int n) {
  variance<<<divide_up(n, kVarianceBlock), kVarianceBlock>>>(d_x, d_y, n);
}
