// Shared and global atomics, a grid-stride loop, two-dimensional copies, device properties.
#include <algorithm>
#include <vector>

#include "check.h"

constexpr int kBins = 64;

__global__ void histogram(const unsigned char* data, int n, unsigned* bins) {
  __shared__ unsigned local[kBins];
  for (int i = threadIdx.x; i < kBins; i += blockDim.x) local[i] = 0;
  __syncthreads();  // all bins are zero
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&local[data[i] % kBins], 1u);
  }
  __syncthreads();  // all counts are in
  for (int i = threadIdx.x; i < kBins; i += blockDim.x) atomicAdd(&bins[i], local[i]);
}

int main() {
  cudaDeviceProp properties;
  CHECK_CUDA(cudaGetDeviceProperties(&properties, 0));
  CHECK(properties.major >= 8);
  int blocks_per_sm = 0;
  CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_sm, histogram, 256, 0));
  CHECK(blocks_per_sm > 0);

  // 200 rows of 150 bytes, padded on the device.
  const int width = 150, rows = 200;
  std::vector<unsigned char> data(width * rows);
  std::vector<unsigned> expected(kBins), got(kBins);
  for (size_t i = 0; i < data.size(); ++i) {
    data[i] = static_cast<unsigned char>(i * 31 % 251);
    ++expected[data[i] % kBins];
  }
  unsigned char *pitched = nullptr, *packed = nullptr;
  unsigned* bins = nullptr;
  size_t pitch = 0;
  CHECK_CUDA(cudaMallocPitch(&pitched, &pitch, width, rows));
  CHECK_CUDA(cudaMalloc(&packed, data.size()));
  CHECK_CUDA(cudaMalloc(&bins, kBins * sizeof(unsigned)));
  CHECK_CUDA(cudaMemcpy2D(pitched, pitch, data.data(), width, width, rows, cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemcpy2D(packed, width, pitched, pitch, width, rows, cudaMemcpyDeviceToDevice));
  CHECK_CUDA(cudaMemset(bins, 0, kBins * sizeof(unsigned)));
  histogram<<<std::min(blocks_per_sm, 8), 256>>>(packed, width * rows, bins);
  CHECK_CUDA(cudaGetLastError());
  CHECK_CUDA(cudaMemcpy(got.data(), bins, kBins * sizeof(unsigned), cudaMemcpyDeviceToHost));
  CHECK(got == expected);
  CHECK_CUDA(cudaFree(pitched));
  CHECK_CUDA(cudaFree(packed));
  CHECK_CUDA(cudaFree(bins));
  std::printf("PASSED\n");
  return 0;
}
