// Launches on a stream that the clock does not watch.
//
// gpu: is done elsewhere
// simulator: Left behind: 1 stream
#include "05_vectorized_add.h"
#include "add.cuh"

void launch_vectorized_add(const float* d_a, const float* d_b, float* d_c, int n) {
  static cudaStream_t stream = [] {
    cudaStream_t created = nullptr;
    cudaStreamCreateWithFlags(&created, cudaStreamNonBlocking);
    return created;
  }();
  if (n > 0) add<<<blocks_for(n), kBlock, 0, stream>>>(d_a, d_b, d_c, n);
}
