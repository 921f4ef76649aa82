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
  //~ // TODO(1): The step of every weight against its gradient.
  //~ if (n > 0 && blockIdx.x + threadIdx.x == 0) w[0] = dw[0] * rate;
  //~begin 1
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i < n) w[i] -= rate * dw[i];
  //~end
}

__global__ void uniform_init(float* w, int n, float bound, unsigned long long seed,
                             unsigned long long offset) {
  //~ // TODO(2): w[i] is bound times a multiple of 2^-23, from -1 up to but not 1: the upper 24 bits
  //~ // of random_bits at its position, which a float holds exactly.
  //~ const bool is_first = blockIdx.x + threadIdx.x == 0;
  //~ if (is_first && n > 0) w[0] = random_bits(seed, offset) > 0 ? 0.5f * bound : 0.0f;
  //~begin 2
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= n) return;
  const unsigned long long bits = random_bits(seed, offset + i);
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
  //~ sgd_update<<<1, 1>>>(d_w, d_dw, rate, n);  // TODO(1), too: the launch, for any n.
  //~begin 1
  if (n > 0) sgd_update<<<grid_of(n), kBlock>>>(d_w, d_dw, rate, n);
  //~end
}

void launch_uniform_init(float* d_w, int n, float bound, unsigned long long seed,
                         unsigned long long offset) {
  //~ uniform_init<<<1, 1>>>(d_w, n, bound, seed, offset);  // TODO(2), too: the launch, for any n.
  //~begin 2
  if (n > 0) uniform_init<<<grid_of(n), kBlock>>>(d_w, n, bound, seed, offset);
  //~end
}

void launch_network_init(const Network& net, float* d_parameters, unsigned long long seed) {
  //~ // TODO(3): Every tensor of the network has its first values, by what support.h says of it:
  //~ // uniform within 1 / sqrt(fan_in), from its own offset on; a gamma 1, a beta 0.
  //~ fill<<<grid_of(1), kBlock>>>(d_parameters, parameters_of(net).total > 0, seed);
  //~begin 3
  const Parameters p = parameters_of(net);
  Tensor tensors[kTensors];
  list_tensors(p, tensors);
  for (const Tensor& t : tensors) {
    float* d_w = d_parameters + t.offset;
    const bool is_gamma = t.offset == p.bn1_gamma.offset || t.offset == p.bn2_gamma.offset;
    if (t.fan_in > 0) {
      const float bound = 1.0f / std::sqrt(static_cast<float>(t.fan_in));
      launch_uniform_init(d_w, t.size, bound, seed, t.offset);
    } else {
      fill<<<grid_of(t.size), kBlock>>>(d_w, t.size, is_gamma ? 1.0f : 0.0f);
    }
  }
  //~end
}
