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
  // TODO(1): Every thread must have a sequence of its own, of the same seed.
  static_cast<void>(states), static_cast<void>(threads), static_cast<void>(seed);
}

void launch_init(void* d_states, int threads, unsigned long long seed) {
  init<<<blocks_for(threads), kBlock>>>(static_cast<curandStateXORWOW_t*>(d_states), threads, seed);
}

__global__ void draw(curandStateXORWOW_t* states, int threads, float* x, int rounds) {
  // TODO(2): One number of each generator in each round. The next launch goes on where
  // this one ends.
  static_cast<void>(states), static_cast<void>(threads), static_cast<void>(x);
  static_cast<void>(rounds);
}

void launch_draw(void* d_states, int threads, float* d_x, int rounds) {
  draw<<<blocks_for(threads), kBlock>>>(static_cast<curandStateXORWOW_t*>(d_states), threads, d_x,
                                        rounds);
}

// One thread for four elements: sequence `four`.
__global__ void dropout(const float* x, float* y, int n, float rate, unsigned long long seed,
                        unsigned long long offset) {
  // TODO(3): Keep or drop each element by its number, which follows from seed, offset and
  // index alone: the header says which number that is. A thread takes four elements.
  static_cast<void>(x), static_cast<void>(y), static_cast<void>(n);
  static_cast<void>(rate), static_cast<void>(seed), static_cast<void>(offset);
}

void launch_dropout(const float* d_x, float* d_y, int n, float rate, unsigned long long seed,
                    unsigned long long offset) {
  if (n > 0) {
    dropout<<<blocks_for((n + 3) / 4), kBlock>>>(d_x, d_y, n, rate, seed, offset);
  }
}

__global__ void weights(float* w, int n, float deviation, unsigned long long seed) {
  // TODO(4): Element i is deviation times normal value i. The header has both: the deviation that
  // launch_weights computes below is not yet the one that it names.
  static_cast<void>(w), static_cast<void>(n), static_cast<void>(deviation);
  static_cast<void>(seed);
}

void launch_weights(float* d_w, int fan_out, int fan_in, unsigned long long seed) {
  const int n = fan_out * fan_in;
  if (n == 0) return;
  const float deviation = 1.0f / static_cast<float>(fan_in);
  weights<<<blocks_for((n + 3) / 4), kBlock>>>(d_w, n, deviation, seed);
}
