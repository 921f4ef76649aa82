#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include "kit/speed/device.h"
#include "kit/speed/gpu.h"

namespace kit::internal {
namespace {

constexpr int kBlock = 256;  // threads

unsigned blocks_for(size_t n) {
  const size_t blocks = (n + kBlock - 1) / kBlock;
  return static_cast<unsigned>(blocks < 65536 ? blocks : 65536);
}

template <class T>
__global__ void fill_values(T* data, size_t n, Values values, uint64_t key) {
  const size_t stride = size_t{gridDim.x} * blockDim.x;
  for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    data[i] = static_cast<T>(value_at(values, key, i));
  }
}

template <class T>
__global__ void count_differences(const T* data, size_t n, Values values, uint64_t key,
                                  unsigned long long* count) {
  const size_t stride = size_t{gridDim.x} * blockDim.x;
  for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    // Negated: a NaN is a difference.
    if (!(data[i] == static_cast<T>(value_at(values, key, i)))) atomicAdd(count, 1ull);
  }
}

template <class T>
__global__ void gather_elements(const T* data, const size_t* positions, size_t count, double* out) {
  const size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) out[i] = static_cast<double>(data[positions[i]]);
}

// Reads everything and writes nothing that the compiler could know.
__global__ void read_memory(const uint4* data, size_t n, unsigned* sink) {
  unsigned sum = 0;
  const size_t stride = size_t{gridDim.x} * blockDim.x;
  for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    const uint4 v = data[i];
    sum ^= v.x ^ v.y ^ v.z ^ v.w;
  }
  if (sum == 0x9E3779B9u) *sink = sum;
}

// Keeps the stream busy until the host says go, so that everything behind it is queued by then.
// Ends by itself after `most` nanoseconds.
__global__ void hold_stream(const volatile unsigned* go, unsigned long long most,
                            volatile unsigned* expired) {
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (*go == 0 && now - begin < most);
  if (*go == 0) *expired = 1;
}

// 8 chains of dependent FMAs per thread.
__global__ void multiply_add(float* sink, int rounds) {
  float x[8];
  for (int k = 0; k < 8; ++k) x[k] = 0.5f + 0.01f * static_cast<float>(threadIdx.x + k);
  const float a = 0.999f, b = 0.001f;
#pragma unroll 4
  for (int i = 0; i < rounds; ++i) {
#pragma unroll
    for (int k = 0; k < 8; ++k) x[k] = fmaf(x[k], a, b);
  }
  float sum = 0;
  for (int k = 0; k < 8; ++k) sum += x[k];
  if (sum == 1234.5f) *sink = sum;
}

__global__ void do_nothing() {}

}  // namespace

void fill(Element element, void* data, size_t n, const Values& values, uint64_t key) {
  if (n == 0) return;
  with_type(element, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    fill_values<<<blocks_for(n), kBlock>>>(static_cast<T*>(data), n, values, key);
  });
}

uint64_t count_changed(Element element, const void* data, size_t n, const Values& values,
                       uint64_t key) {
  if (n == 0) return 0;
  unsigned long long* counter = nullptr;
  if (cudaMalloc(&counter, sizeof *counter) != cudaSuccess) return 0;
  cudaMemset(counter, 0, sizeof *counter);
  with_type(element, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    count_differences<<<blocks_for(n), kBlock>>>(static_cast<const T*>(data), n, values, key,
                                                 counter);
  });
  unsigned long long count = 0;
  cudaMemcpy(&count, counter, sizeof count, cudaMemcpyDeviceToHost);
  cudaFree(counter);
  return count;
}

std::vector<double> gather(Element element, const void* data,
                           const std::vector<size_t>& positions) {
  std::vector<double> values(positions.size());
  if (positions.empty()) return values;
  size_t* where = nullptr;
  double* found = nullptr;
  cudaMalloc(&where, positions.size() * sizeof(size_t));
  cudaMalloc(&found, positions.size() * sizeof(double));
  cudaMemcpy(where, positions.data(), positions.size() * sizeof(size_t), cudaMemcpyHostToDevice);
  with_type(element, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    gather_elements<<<blocks_for(positions.size()), kBlock>>>(static_cast<const T*>(data), where,
                                                              positions.size(), found);
  });
  cudaMemcpy(values.data(), found, values.size() * sizeof(double), cudaMemcpyDeviceToHost);
  cudaFree(where);
  cudaFree(found);
  return values;
}

void read_all(const void* data, size_t bytes, unsigned* sink) {
  read_memory<<<blocks_for(bytes / 64), kBlock>>>(static_cast<const uint4*>(data),
                                                  bytes / sizeof(uint4), sink);
}

void hold(const unsigned* go, unsigned* expired, double most_seconds) {
  hold_stream<<<1, 1>>>(go, static_cast<unsigned long long>(most_seconds * 1e9), expired);
}

double multiply_add_all(int multiprocessors, int rounds, float* sink) {
  const int blocks = multiprocessors * 8;
  multiply_add<<<blocks, kBlock>>>(sink, rounds);
  return 2.0 * 8 * rounds * blocks * kBlock;
}

void launch_nothing() { do_nothing<<<1, 1>>>(); }

}  // namespace kit::internal
