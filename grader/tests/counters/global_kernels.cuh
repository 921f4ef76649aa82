// Access to global memory, atomics, divergence and local memory, one idea per kernel.
#pragma once
#include <cuda_fp16.h>
#include <mma.h>

__device__ inline int global_thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

// ---- loads and stores -----------------------------------------------------------------------

template <int kStride>
__global__ void copy_strided(const float* in, float* out, int n) {
  const int i = global_thread();
  if (i < n) out[i] = in[(static_cast<long long>(i) * kStride) % n];
}

__global__ void copy_misaligned(const float* in, float* out, int n) {
  const int i = global_thread();
  if (i + 1 < n) out[i] = in[i + 1];
}

__global__ void copy_float2(const float2* in, float2* out, int n) {
  const int i = global_thread();
  if (i < n / 2) out[i] = in[i];
}

__global__ void copy_float4(const float4* in, float4* out, int n) {
  const int i = global_thread();
  if (i < n / 4) out[i] = in[i];
}

__global__ void copy_bytes(const unsigned char* in, unsigned char* out, int n) {
  const int i = global_thread();
  if (i < n) out[i] = in[i];
}

__global__ void copy_double(const double* in, double* out, int n) {
  const int i = global_thread();
  if (i < n / 2) out[i] = in[i];
}

__global__ void store_strided(const float* in, float* out, int n) {
  const int i = global_thread();
  if (i < n / 8) out[8 * i] = in[i];
}

__global__ void load_broadcast(const float* in, float* out, int n) {
  const int i = global_thread();
  if (i < n) out[i] = in[blockIdx.x];
}

__global__ void load_broadcast_float4(const float4* in, float4* out, int n) {
  const int i = global_thread();
  if (i < n / 4) out[i] = in[i / 2];
}

__global__ void gather(const float* in, float* out, int n) {
  const int i = global_thread();
  if (i < n) out[i] = in[(i * 2654435761u) % static_cast<unsigned>(n)];
}

struct Particle {
  float x, y, z;
};
__global__ void structures(const Particle* in, float* out, int n) {
  const int i = global_thread();
  if (i < n / 3) out[i] = in[i].x + in[i].z;
}

__global__ void every_other_lane(const float* in, float* out, int n) {
  const int i = global_thread();
  if (i < n && (i & 1) == 0) out[i] = in[i];
}

// ---- atomics --------------------------------------------------------------------------------

__global__ void atomic_uniform(const float*, int* out, int n) {
  if (global_thread() < n) atomicAdd(out, 1);
}

__global__ void atomic_uniform_values(const float*, int* out, int n) {
  const int i = global_thread();
  if (i < n) atomicAdd(out, i & 7);
}

__global__ void atomic_uniform_result(const float*, int* out, int n) {
  const int i = global_thread();
  if (i < n) out[1 + atomicAdd(out, 1) % 1024] = i;
}

__global__ void atomic_uniform_float(const float* in, float* out, int n) {
  const int i = global_thread();
  if (i < n) atomicAdd(out, in[i]);
}

__global__ void atomic_bins(const float*, int* out, int n) {
  const int i = global_thread();
  if (i < n) atomicAdd(&out[i & 63], 1);
}

__global__ void atomic_apart(const float*, int* out, int n) {
  const int i = global_thread();
  if (i < n) atomicAdd(&out[i], 1);
}

__global__ void atomic_shared_uniform(const float*, int* out, int n) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();  // sum is 0 before anybody adds
  if (global_thread() < n) atomicAdd(&sum, 1);
  __syncthreads();  // all have added
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// One product of 16 x 16 matrices per warp.
__global__ void tensor_products(const float*, float* out, int) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, 16, __half, row_major> a;
  fragment<matrix_b, 16, 16, 16, __half, col_major> b;
  fragment<accumulator, 16, 16, 16, float> c;
  fill_fragment(a, __float2half(1.0f));
  fill_fragment(b, __float2half(2.0f));
  fill_fragment(c, 0.0f);
  mma_sync(c, a, b, c);
  out[global_thread()] = c.x[0];
}

__global__ void histogram_shared(const float* in, int* out, int n) {
  __shared__ int bins[64];
  if (threadIdx.x < 64) bins[threadIdx.x] = 0;
  __syncthreads();  // bins are 0 before anybody counts
  const int i = global_thread();
  if (i < n) atomicAdd(&bins[static_cast<int>(in[i]) & 63], 1);
  __syncthreads();  // all have counted
  if (threadIdx.x < 64) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

// ---- divergence, local memory ---------------------------------------------------------------

__global__ void divergent(const float* in, float* out, int n) {
  const int i = global_thread();
  if (i >= n) return;
  float x = in[i];
  if (i & 1) {
    for (int k = 0; k < 8; ++k) x = x * 1.5f + sqrtf(x);
  } else {
    for (int k = 0; k < 8; ++k) x = x * 0.5f - sinf(x);
  }
  out[i] = x;
}

__global__ void local_array(const float* in, float* out, int n) {
  const int i = global_thread();
  if (i >= n) return;
  float kept[32];
  for (int k = 0; k < 32; ++k) kept[k] = in[(i + k) % n];
  float sum = 0;
  // The index is known at run time only, so the array lies in local memory.
  for (int k = 0; k < 8; ++k) sum += kept[(i + 5 * k + static_cast<int>(sum)) & 31];
  out[i] = sum;
}

// ---- latency: chains of dependent work ------------------------------------------------------

template <int kChains>
__global__ void chains(const float* in, float* out, int n) {
  float x[kChains];
  const float a = in[0], b = in[1];
  for (int c = 0; c < kChains; ++c) x[c] = in[threadIdx.x + c];
  for (int k = 0; k < n / kChains; ++k) {
    for (int c = 0; c < kChains; ++c) x[c] = x[c] * a + b;
  }
  float sum = 0;
  for (int c = 0; c < kChains; ++c) sum += x[c];
  out[global_thread()] = sum;
}

// One dependent load after the other, from memory; shared memory limits how many blocks fit.
__global__ void chase(const int* next, float* out, int steps) {
  extern __shared__ float unused[];
  int at = global_thread() * 1024;
  for (int k = 0; k < steps; ++k) at = next[at];
  if (at < 0) unused[0] = 1;
  out[global_thread()] = static_cast<float>(at);
}

enum class Read { kPlain, kGuarded, kVolatile };

// A warp per block: eight words under way at a time, also behind a guard of its own each, or
// volatile.
template <Read kRead>
__global__ void eight_loads(const float* in, float* out, int n) {
  float sum = 0;
#pragma unroll 1
  for (int first = static_cast<int>(threadIdx.x); first < n; first += 256) {
    float x[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const int i = first + 32 * k;
      const float* word = in + i;
      if (kRead == Read::kVolatile) {
        x[k] = *static_cast<const volatile float*>(word);
      } else {
        x[k] = kRead == Read::kPlain || i < n ? *word : 0.0f;
      }
    }
#pragma unroll
    for (int k = 0; k < 8; ++k) sum += x[k];
  }
  out[global_thread()] = sum;
}

// Every lane reads a line of its own, again and again: all the same word of it, or another one
// each.
template <bool kOwnBanks>
__global__ void lines_in_l1(const float* in, float* out, int n) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  float sum = 0;
#pragma unroll 4
  for (int k = 0; k < n; ++k) sum += in[32 * lane + (kOwnBanks ? lane + k : k) % 32];
  out[global_thread()] = sum;
}
