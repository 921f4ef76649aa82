// Grid-stride loops of few blocks, a sequence reached by a skip, and normal values in pairs.
#include <curand_kernel.h>

#include <cmath>

#include "13_curand_device.h"

namespace {

using Xorwow = curandStateXORWOW_t;
using Philox = curandStatePhilox4_32_10_t;

__global__ void init_by_skips(Xorwow* states, int threads, unsigned long long seed) {
  for (int t = blockIdx.x * blockDim.x + threadIdx.x; t < threads; t += gridDim.x * blockDim.x) {
    curand_init(seed, 0, 0, &states[t]);
    skipahead_sequence(static_cast<unsigned long long>(t), &states[t]);
  }
}

__global__ void draw_in_memory(Xorwow* states, int threads, float* x, int rounds) {
  for (int t = blockIdx.x * blockDim.x + threadIdx.x; t < threads; t += gridDim.x * blockDim.x) {
    for (int round = 0; round < rounds; ++round) {
      x[round * threads + t] = curand_uniform(&states[t]);
    }
  }
}

__global__ void dropout_strided(const float* x, float* y, int n, float rate,
                                unsigned long long seed, unsigned long long offset) {
  for (int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x); first < n;
       first += 4 * gridDim.x * blockDim.x) {
    Philox state;
    curand_init(seed, first / 4, offset, &state);
    for (int i = first; i < n && i < first + 4; ++i) {
      const float number = curand_uniform(&state);
      y[i] = number > rate ? x[i] * (1.0f / (1.0f - rate)) : 0.0f;
    }
  }
}

__global__ void weights_in_pairs(float* w, int n, float deviation, unsigned long long seed) {
  const int pair = blockIdx.x * blockDim.x + threadIdx.x;
  if (2 * pair >= n) return;
  Philox state;
  curand_init(seed, pair / 2, 2 * (pair % 2), &state);
  const float2 normal = curand_normal2(&state);
  w[2 * pair] = deviation * normal.x;
  if (2 * pair + 1 < n) w[2 * pair + 1] = deviation * normal.y;
}

}  // namespace

size_t state_bytes(int threads) { return threads * sizeof(Xorwow); }

void launch_init(void* d_states, int threads, unsigned long long seed) {
  init_by_skips<<<2, 32>>>(static_cast<Xorwow*>(d_states), threads, seed);
}

void launch_draw(void* d_states, int threads, float* d_x, int rounds) {
  draw_in_memory<<<2, 32>>>(static_cast<Xorwow*>(d_states), threads, d_x, rounds);
}

void launch_dropout(const float* d_x, float* d_y, int n, float rate, unsigned long long seed,
                    unsigned long long offset) {
  if (n > 0) dropout_strided<<<4, 64>>>(d_x, d_y, n, rate, seed, offset);
}

void launch_weights(float* d_w, int fan_out, int fan_in, unsigned long long seed) {
  const int n = fan_out * fan_in;
  if (n == 0) return;
  weights_in_pairs<<<(n + 127) / 128, 64>>>(d_w, n, sqrtf(2.0f / static_cast<float>(fan_in)), seed);
}
