// 06/13 Memory pools: the kernels, and a call that allocates as chapter 02 did.
#include "13_memory_pools.h"

namespace {

constexpr int kBlock = 256;  // threads

int blocks_for(int n) { return (n + kBlock - 1) / kBlock; }

__global__ void blur(const float* in, float* out, int n) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i < n) {
    out[i] = 0.25f * (in[i > 0 ? i - 1 : 0] + 2 * in[i] + in[i + 1 < n ? i + 1 : n - 1]);
  }
}

__global__ void contrast(const float* x, const float* soft, float* out, int n) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i < n) {
    out[i] = fabsf(x[i] - soft[i]);
  }
}

__global__ void add(const float* a, const float* b, float* y, int n) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i < n) {
    y[i] = a[i] + b[i];
  }
}

}  // namespace

cudaError_t launch_blur(const float* d_in, float* d_out, int n, cudaStream_t stream) {
  blur<<<blocks_for(n), kBlock, 0, stream>>>(d_in, d_out, n);
  return cudaGetLastError();
}

cudaError_t launch_contrast(const float* d_x, const float* d_soft, float* d_out, int n,
                            cudaStream_t stream) {
  contrast<<<blocks_for(n), kBlock, 0, stream>>>(d_x, d_soft, d_out, n);
  return cudaGetLastError();
}

cudaError_t launch_add(const float* d_a, const float* d_b, float* d_y, int n, cudaStream_t stream) {
  add<<<blocks_for(n), kBlock, 0, stream>>>(d_a, d_b, d_y, n);
  return cudaGetLastError();
}

cudaError_t order_streams(cudaStream_t earlier, cudaStream_t later) {
  cudaEvent_t reached = nullptr;
  cudaError_t error = cudaEventCreateWithFlags(&reached, cudaEventDisableTiming);
  if (error == cudaSuccess) error = cudaEventRecord(reached, earlier);
  if (error == cudaSuccess) error = cudaStreamWaitEvent(later, reached, 0);
  cudaEventDestroy(reached);
  return error;
}

cudaError_t sharpen_slowly(const float* d_x, float* d_y, int n, cudaStream_t stream) {
  const size_t bytes = n * sizeof(float);
  float *once = nullptr, *twice = nullptr, *edges = nullptr;
  cudaError_t error = cudaMalloc(&once, bytes);
  if (error == cudaSuccess) error = cudaMalloc(&twice, bytes);
  if (error == cudaSuccess) error = cudaMalloc(&edges, bytes);
  if (error == cudaSuccess) error = launch_blur(d_x, once, n, stream);
  if (error == cudaSuccess) error = launch_blur(once, twice, n, stream);
  if (error == cudaSuccess) error = launch_contrast(d_x, once, edges, n, stream);
  if (error == cudaSuccess) error = launch_add(twice, edges, d_y, n, stream);
  for (float* scratch : {once, twice, edges}) cudaFree(scratch);  // waits for the device
  return error;
}
