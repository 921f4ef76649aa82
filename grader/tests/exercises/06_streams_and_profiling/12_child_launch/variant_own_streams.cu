// Accepted: each child in a stream that its thread makes for it, counting by atomics.
#include "12_child_launch.h"

__global__ void count_samples(Disc disc, int row, int col, int* coverage) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  for (int sample = threadIdx.x; sample < kSamples; sample += blockDim.x) {
    if (disc.contains_sample(row, col, sample)) atomicAdd(&count, 1);
  }
  __syncthreads();
  if (threadIdx.x == 0) *coverage = count;
}

__global__ void cover_rows(Disc disc, int side, int* coverage) {
  const int row = blockIdx.x;
  for (int col = threadIdx.x; col < side; col += blockDim.x) {
    int* out = coverage + row * side + col;
    *out = disc.contains_cell(row, col) ? kSamples : 0;
    const bool border = *out == 0 && !disc.misses_cell(row, col);
    if (!border) continue;
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    count_samples<<<1, 128, 0, stream>>>(disc, row, col, out);
    cudaStreamDestroy(stream);  // the child runs all the same
  }
}

void launch_adaptive_coverage(const Disc& disc, int side, int* d_coverage) {
  cover_rows<<<side, 32>>>(disc, side, d_coverage);
}
