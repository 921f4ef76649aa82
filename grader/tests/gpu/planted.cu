#include <chrono>

#include "planted.h"

namespace {

constexpr int kBlock = 256;  // threads

__global__ void copy_float4(const float4* in, float4* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

__global__ void scale(float* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = data[i] * 0.5f + 1.0f;
}

}  // namespace

void launch_planted_copy(const float* d_in, float* d_out, int n) {
  const int vectors = n / 4;
  copy_float4<<<(vectors + kBlock - 1) / kBlock, kBlock>>>(
      reinterpret_cast<const float4*>(d_in), reinterpret_cast<float4*>(d_out), vectors);
}

void launch_load(float* d_data, int n, double milliseconds) {
  const auto begin = std::chrono::steady_clock::now();
  do {
    for (int i = 0; i < 20; ++i) scale<<<(n + kBlock - 1) / kBlock, kBlock>>>(d_data, n);
  } while (
      cudaDeviceSynchronize() == cudaSuccess &&
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count() <
          milliseconds);
}
