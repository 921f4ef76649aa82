// Kernels for the tests of the runtime: one thread each, the smallest that show an effect.
#include <cuda_runtime.h>

__device__ int g_counter = 41;
__constant__ int g_table[4] = {1, 2, 3, 4};

namespace {

__global__ void increment(int* value) { *value = *value + 1; }
__global__ void store(int* to, int value) { *to = value; }
__global__ void copy(int* to, const int* from) { *to = *from; }
__global__ void empty() {}
__global__ void __launch_bounds__(128) bounded() {}
// Arithmetic only, as much as `rounds` says.
__global__ void compute(float* to, int rounds) {
  float x = static_cast<float>(threadIdx.x);
  for (int i = 0; i < rounds; ++i) x = x * 1.5f + 1.0f;
  if (x == -1.0f) *to = x;
}
__global__ void read_clocks(long long* to) {
  const long long begin = clock64();
  float x = static_cast<float>(begin);
  for (int i = 0; i < 100; ++i) x = x * 1.5f + 1.0f;
  if (x == -1.0f) to[2] = 0;
  to[0] = clock64() - begin;
  unsigned long long nanoseconds;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
  to[1] = static_cast<long long>(nanoseconds);
}
__global__ void spin(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}
__global__ void read_variables(int* to) {
  to[0] = ++g_counter;
  to[1] = g_table[2];
}

__global__ void big_shared(int* to) {
  __shared__ int fixed[4096];
  extern __shared__ int dynamic[];
  fixed[threadIdx.x] = 1;
  dynamic[threadIdx.x] = 2;
  if (to != nullptr) *to = fixed[0] + dynamic[0];
}

}  // namespace

int launch_line() { return __LINE__ + 3; }

void launch_increment(int* value, cudaStream_t stream) { increment<<<1, 1, 0, stream>>>(value); }

void launch_store(int* to, int value, cudaStream_t stream) {
  store<<<1, 1, 0, stream>>>(to, value);
}

void launch_copy(int* to, const int* from, cudaStream_t stream) {
  copy<<<1, 1, 0, stream>>>(to, from);
}

void launch_compute(float* to, int rounds, int blocks, int threads, cudaStream_t stream) {
  compute<<<blocks, threads, 0, stream>>>(to, rounds);
}

void launch_read_clocks(long long* to, cudaStream_t stream) {
  read_clocks<<<1, 1, 0, stream>>>(to);
}

void launch_empty(cudaStream_t stream) { empty<<<1, 1, 0, stream>>>(); }

void launch_spin(long long cycles, cudaStream_t stream) { spin<<<1, 1, 0, stream>>>(cycles); }

void launch_null_store() { store<<<1, 1>>>(nullptr, 1); }

void launch_blocks(dim3 grid, dim3 block, size_t shared) { empty<<<grid, block, shared>>>(); }

void launch_bounded(unsigned threads) { bounded<<<1, threads>>>(); }

void launch_read_variables(int* to) { read_variables<<<1, 1>>>(to); }

const void* big_shared_kernel() { return reinterpret_cast<const void*>(&big_shared); }

void* store_kernel() { return reinterpret_cast<void*>(&store); }

const void* counter_symbol() { return &g_counter; }

const void* table_symbol() { return g_table; }
