// 12/04 SGD update: w -= rate * dw, and the values that weights begin with.
//   w, dw  n floats in device memory; a network's parameters are one array (support.h)
//   A random number of this exercise has no state that goes from one to the next: it is a function
//   of the seed and of its position. So any thread computes any of them, and a network has the same
//   first weights however its tensors are split among launches.
//   TODOs  3
#include <cmath>

#include "04_sgd_update.h"

namespace {

constexpr int kBlock = 256;  // threads

int grid_of(int n) { return (n + kBlock - 1) / kBlock; }

__global__ void sgd_update(float* w, const float* dw, float rate, int n) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  //~ // TODO(1): Take the step of one weight (about 1 line).
  //~ if (i < n) w[i] = dw[i] * rate;
  //~begin 1
  if (i < n) w[i] -= rate * dw[i];
  //~end
}

__global__ void uniform_init(float* w, int n, float bound, unsigned long long seed,
                             unsigned long long offset) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= n) return;
  const unsigned long long bits = random_bits(seed, offset + i);
  //~ // TODO(2): Turn the upper 24 bits, an integer that a float holds exactly, into a multiple of
  //~ // 2^-23 from -1 up to but not 1, and scale it by bound (about 2 lines).
  //~ w[i] = bits > 0 ? 0.5f * bound : 0.0f;
  //~begin 2
  const int integer = static_cast<int>(bits >> 40) - (1 << 23);
  w[i] = static_cast<float>(integer) * 0x1p-23f * bound;
  //~end
}

__global__ void fill(float* w, int n, float value) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i < n) w[i] = value;
}

}  // namespace

void launch_sgd_update(float* d_w, const float* d_dw, float rate, int n) {
  if (n > 0) sgd_update<<<grid_of(n), kBlock>>>(d_w, d_dw, rate, n);
}

void launch_uniform_init(float* d_w, int n, float bound, unsigned long long seed,
                         unsigned long long offset) {
  if (n > 0) uniform_init<<<grid_of(n), kBlock>>>(d_w, n, bound, seed, offset);
}

void launch_network_init(const Network& net, float* d_parameters, unsigned long long seed) {
  const Parameters p = parameters_of(net);
  Tensor tensors[kTensors];
  list_tensors(p, tensors);
  for (const Tensor& t : tensors) {
    float* d_w = d_parameters + t.offset;
    //~ // TODO(3): Fill this tensor: uniform within 1 / sqrt(fan_in), from its own offset on; a gamma
    //~ // with 1, a beta with 0 (about 6 lines).
    //~ const bool is_gamma = t.offset == p.bn1_gamma.offset || t.offset == p.bn2_gamma.offset;
    //~ fill<<<grid_of(t.size), kBlock>>>(d_w, t.size, is_gamma ? seed : t.fan_in);
    //~begin 3
    const bool is_gamma = t.offset == p.bn1_gamma.offset || t.offset == p.bn2_gamma.offset;
    if (t.fan_in > 0) {
      const float bound = 1.0f / std::sqrt(static_cast<float>(t.fan_in));
      launch_uniform_init(d_w, t.size, bound, seed, t.offset);
    } else {
      fill<<<grid_of(t.size), kBlock>>>(d_w, t.size, is_gamma ? 1.0f : 0.0f);
    }
    //~end
  }
}
