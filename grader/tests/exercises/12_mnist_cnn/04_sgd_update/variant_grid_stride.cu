// Few blocks that go on in strides; a network in one launch, each thread looking up its tensor.
#include "04_sgd_update.h"

namespace {

constexpr int kBlock = 128, kGrid = 4;

__device__ float value_at(float bound, unsigned long long seed, unsigned long long position) {
  const double integer = static_cast<double>(random_bits(seed, position) >> 40) - 8388608.0;
  return static_cast<float>(integer / 8388608.0) * bound;
}

__global__ void update(float* w, const float* dw, float rate, int n) {
  for (int i = blockIdx.x * kBlock + threadIdx.x; i < n; i += kGrid * kBlock) {
    w[i] = fmaf(-rate, dw[i], w[i]);
  }
}

__global__ void init(float* w, int n, float bound, unsigned long long seed,
                     unsigned long long offset) {
  for (int i = blockIdx.x * kBlock + threadIdx.x; i < n; i += kGrid * kBlock) {
    w[i] = value_at(bound, seed, offset + i);
  }
}

struct Tensors {
  Tensor all[kTensors];
};

__global__ void init_network(float* parameters, Tensors tensors, unsigned long long seed) {
  const Tensor& t = tensors.all[blockIdx.x];
  const bool is_gamma = blockIdx.x == 1 || blockIdx.x == 4;
  for (int i = threadIdx.x; i < t.size; i += kBlock) {
    const size_t at = t.offset + i;
    if (t.fan_in > 0) {
      parameters[at] = value_at(1.0f / sqrtf(static_cast<float>(t.fan_in)), seed, at);
    } else {
      parameters[at] = is_gamma;
    }
  }
}

}  // namespace

void launch_sgd_update(float* d_w, const float* d_dw, float rate, int n) {
  update<<<kGrid, kBlock>>>(d_w, d_dw, rate, n);
}

void launch_uniform_init(float* d_w, int n, float bound, unsigned long long seed,
                         unsigned long long offset) {
  init<<<kGrid, kBlock>>>(d_w, n, bound, seed, offset);
}

void launch_network_init(const Network& net, float* d_parameters, unsigned long long seed) {
  Tensors tensors;
  list_tensors(parameters_of(net), tensors.all);
  init_network<<<kTensors, kBlock>>>(d_parameters, tensors, seed);
}
