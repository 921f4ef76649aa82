// 09/13 cuRAND in kernels: numbers where they are used, and the same ones again.
//   states  one XORWOW generator per thread,  x, y, w  floats: all in device memory, any n
//   Two ways to share out random numbers. A thread keeps a generator in memory: XORWOW. Or an
//   element has its numbers by its index: Philox computes any position at once, so nothing is kept,
//   and the grid does not matter. PyTorch does the second on a GPU.
//   TODOs  4
#include <curand_kernel.h>

#include <cmath>

#include "13_curand_device.h"

namespace {

constexpr int kBlock = 128;  // threads

int blocks_for(int n) { return (n + kBlock - 1) / kBlock; }

}  // namespace

size_t state_bytes(int threads) { return threads * sizeof(curandStateXORWOW_t); }

__global__ void init(curandStateXORWOW_t* states, int threads, unsigned long long seed) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t < threads) {
    //~ // TODO(1): All threads would draw the same numbers. Give each a sequence of its own: the
    //~ // parameters are seed, sequence, offset and state (1 line).
    //~ curand_init(seed, 0, 0, &states[t]);
    //~begin 1
    curand_init(seed, t, 0, &states[t]);
    //~end
  }
}

void launch_init(void* d_states, int threads, unsigned long long seed) {
  init<<<blocks_for(threads), kBlock>>>(static_cast<curandStateXORWOW_t*>(d_states), threads, seed);
}

__global__ void draw(curandStateXORWOW_t* states, int threads, float* x, int rounds) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t < threads) {
    curandStateXORWOW_t state = states[t];  // in registers while it is used
    for (int round = 0; round < rounds; ++round) {
      x[round * threads + t] = curand_uniform(&state);
    }
    //~ // TODO(2): What happens at the next call? (1 line)
    //~begin 2
    states[t] = state;  // where the next call goes on
    //~end
  }
}

void launch_draw(void* d_states, int threads, float* d_x, int rounds) {
  draw<<<blocks_for(threads), kBlock>>>(static_cast<curandStateXORWOW_t*>(d_states), threads, d_x,
                                        rounds);
}

// One thread for four elements: sequence `four`.
__global__ void dropout(const float* x, float* y, int n, float rate, unsigned long long seed,
                        unsigned long long offset) {
  const int four = blockIdx.x * blockDim.x + threadIdx.x;
  if (four < (n + 3) / 4) {
    //~ // TODO(3): Make the generator of this sequence at this offset, and draw four uniform numbers at
    //~ // once (3 lines). Backpropagation will call this kernel again and has to get the same ones.
    //~ const float number[4] = {1.0f, 1.0f, 1.0f, 1.0f};
    //~ static_cast<void>(seed), static_cast<void>(offset);
    //~begin 3
    curandStatePhilox4_32_10_t state;
    curand_init(seed, four, offset, &state);
    const float4 drawn = curand_uniform4(&state);
    const float number[4] = {drawn.x, drawn.y, drawn.z, drawn.w};
    //~end
    for (int j = 0; j < 4; ++j) {
      const int i = 4 * four + j;
      if (i < n) y[i] = number[j] > rate ? x[i] / (1.0f - rate) : 0.0f;
    }
  }
}

void launch_dropout(const float* d_x, float* d_y, int n, float rate, unsigned long long seed,
                    unsigned long long offset) {
  if (n > 0) {
    dropout<<<blocks_for((n + 3) / 4), kBlock>>>(d_x, d_y, n, rate, seed, offset);
  }
}

__global__ void weights(float* w, int n, float deviation, unsigned long long seed) {
  const int four = blockIdx.x * blockDim.x + threadIdx.x;
  if (four < (n + 3) / 4) {
    curandStatePhilox4_32_10_t state;
    curand_init(seed, four, 0, &state);
    const float4 drawn = curand_normal4(&state);
    const float number[4] = {drawn.x, drawn.y, drawn.z, drawn.w};
    for (int j = 0; j < 4 && 4 * four + j < n; ++j) w[4 * four + j] = deviation * number[j];
  }
}

void launch_weights(float* d_w, int fan_out, int fan_in, unsigned long long seed) {
  const int n = fan_out * fan_in;
  if (n == 0) return;
  //~ // TODO(4): The standard deviation that keeps the size of values from layer to layer, where ReLU
  //~ // sets half of them to 0 (1 line). The header has the formula.
  //~ const float deviation = 1.0f / static_cast<float>(fan_in);
  //~begin 4
  const float deviation = std::sqrt(2.0f / static_cast<float>(fan_in));
  //~end
  weights<<<blocks_for((n + 3) / 4), kBlock>>>(d_w, n, deviation, seed);
}
