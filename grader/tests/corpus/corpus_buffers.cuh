// What the cases of several files share: two buffers, and kernels that take them.
#ifndef WARPLINGS_TESTS_CORPUS_BUFFERS_CUH_
#define WARPLINGS_TESTS_CORPUS_BUFFERS_CUH_

#include <cuda_runtime.h>

constexpr int kThreads = 64;
constexpr int kBlocks = 4;
constexpr int kWords = kThreads * kBlocks;

// Two buffers of 2 * kWords zeros.
struct Buffers {
  int* a = nullptr;
  int* b = nullptr;
  Buffers() {
    cudaMalloc(&a, 2 * kWords * sizeof(int));
    cudaMalloc(&b, 2 * kWords * sizeof(int));
    cudaMemset(a, 0, 2 * kWords * sizeof(int));
    cudaMemset(b, 0, 2 * kWords * sizeof(int));
  }
  ~Buffers() {
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
  }
};

__device__ inline int global_index() { return blockIdx.x * blockDim.x + threadIdx.x; }

// A case whose kernel takes the two buffers, on `blocks` blocks of `threads` threads.
#define SIMPLE_CASE(name, blocks, threads)         \
  template <bool kPlanted>                         \
  void run_##name() {                              \
    Buffers m;                                     \
    name<kPlanted><<<blocks, threads>>>(m.a, m.b); \
  }

#endif  // WARPLINGS_TESTS_CORPUS_BUFFERS_CUH_
