// 03/11 Memory probe: what is given. The probe of the registers, and the ladder that measures all.
#include <algorithm>

#include "11_memory_probe.h"
#include "support.h"

// Eight chains, so that the next operation need not wait for the last one. Each reads three
// registers and writes one.
constexpr int kChains = 8;
__global__ void use_registers(int rounds, float a, float b, float* sums) {
  float value[kChains];
#pragma unroll
  for (int k = 0; k < kChains; ++k) value[k] = threadIdx.x + k;
#pragma unroll 8
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int k = 0; k < kChains; ++k) value[k] = value[k] * a + b;
  }
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < kChains; ++k) sum += value[k];
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

Ladder measure_ladder(int effort) {
  int device = 0, multiprocessors = 0, most_threads = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  cudaDeviceGetAttribute(&most_threads, cudaDevAttrMaxThreadsPerMultiProcessor, device);
  const int blocks = multiprocessors * (most_threads / kThreads);  // as many as run at once
  const double threads = static_cast<double>(blocks) * kThreads;
  const size_t unit = sizeof(float4) * blocks;  // a working set is a multiple of this
  const size_t in_l2 = l2_working_set(device) / unit * unit;
  const size_t beyond_l2 = global_working_set(device) / unit * unit;
  const size_t copied = static_cast<size_t>(effort) << 20;  // bytes over the host link
  const int rounds = 16 * effort, passes = 3 + effort, repeats = std::min(effort, 5);

  float4* d_x = nullptr;
  float* d_sums = nullptr;
  void* h_x = nullptr;
  cudaMalloc(&d_x, std::max(2 * beyond_l2, 2 * copied));
  cudaMemset(d_x, 0, 2 * beyond_l2);
  cudaMalloc(&d_sums, blocks * kThreads * sizeof(float));
  cudaMallocHost(&h_x, 2 * copied);  // pinned, so the copy engine reads it itself

  Ladder ladder = {};
  double* const rate = ladder.gb_per_second;
  rate[kRegisters] = gb_per_second(
      threads * rounds * kChains * 4 * sizeof(float), repeats,
      [&](int k) { use_registers<<<blocks, kThreads>>>(k * rounds, 0.5f, 1.0f, d_sums); });
  rate[kShared] = gb_per_second(threads * rounds * sizeof(float4), repeats,
                                [&](int k) { launch_shared(k * rounds, blocks, d_sums); });
  rate[kL2] = gb_per_second(static_cast<double>(in_l2) * passes, repeats, [&](int k) {
    launch_read(d_x, in_l2 / sizeof(float4), k * passes, blocks, d_sums);
  });
  rate[kGlobal] = gb_per_second(static_cast<double>(beyond_l2), repeats, [&](int k) {
    launch_read(d_x, k * beyond_l2 / sizeof(float4), 1, blocks, d_sums);
  });
  rate[kLink] = gb_per_second(static_cast<double>(copied), repeats, [&](int k) {
    cudaMemcpyAsync(d_x, h_x, k * copied, cudaMemcpyHostToDevice);
  });
  cudaFreeHost(h_x);
  cudaFree(d_sums);
  cudaFree(d_x);
  return ladder;
}

bool draw_ladder(const Ladder& ladder, const char* title, const char* path) {
  return draw_bars(title, {"registers", "shared", "L2", "global", "host link"},
                   ladder.gb_per_second, path);
}
