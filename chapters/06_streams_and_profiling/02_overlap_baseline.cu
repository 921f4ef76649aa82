// 06/02 Overlap: the kernel, and the pipeline that keeps one part of the card busy at a time.
#include "02_overlap.h"

// One thread per element. The terms of one element form a chain, so this computes for a while.
__global__ void geometric_series(const float* x, float* y, int n, int terms) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const float factor = x[i];
    float sum = 0.0f;
    for (int k = 0; k < terms; ++k) {
      sum = sum * factor + 1.0f;
    }
    y[i] = sum;
  }
}

cudaError_t launch_geometric_series(const float* d_x, float* d_y, int n, int terms,
                                    cudaStream_t stream) {
  constexpr int kBlock = 256;  // threads
  geometric_series<<<(n + kBlock - 1) / kBlock, kBlock, 0, stream>>>(d_x, d_y, n, terms);
  return cudaGetLastError();
}

cudaError_t series_serial(const float* h_x, float* h_y, float* d_x, float* d_y, int n, int terms,
                          cudaStream_t stream) {
  const size_t bytes = n * sizeof(float);
  cudaError_t error = cudaMemcpyAsync(d_x, h_x, bytes, cudaMemcpyHostToDevice, stream);
  if (error == cudaSuccess) error = launch_geometric_series(d_x, d_y, n, terms, stream);
  if (error != cudaSuccess) return error;
  return cudaMemcpyAsync(h_y, d_y, bytes, cudaMemcpyDeviceToHost, stream);
}
