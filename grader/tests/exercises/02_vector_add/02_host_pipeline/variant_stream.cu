// Another right answer: asynchronous copies in a stream of its own, directions found by the
// runtime, memory freed by a destructor.
#include "02_host_pipeline.h"

namespace {

__global__ void square(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] = in[i] * in[i];
  }
}

struct DeviceArray {
  float* data = nullptr;
  ~DeviceArray() { cudaFree(data); }
};

struct Stream {
  cudaStream_t handle = nullptr;
  ~Stream() {
    if (handle != nullptr) cudaStreamDestroy(handle);
  }
};

}  // namespace

cudaError_t squares_and_fourths(const float* h_x, float* h_squares, float* h_fourths, int n,
                                int block) {
  const size_t bytes = n * sizeof(float);
  const int grid = (n - 1) / block + 1;
  DeviceArray x, kept;
  Stream stream;
  cudaError_t error = cudaStreamCreate(&stream.handle);
  if (error != cudaSuccess) return error;
  if ((error = cudaMalloc(&x.data, bytes)) != cudaSuccess) return error;
  if ((error = cudaMalloc(&kept.data, bytes)) != cudaSuccess) return error;
  error = cudaMemcpyAsync(x.data, h_x, bytes, cudaMemcpyDefault, stream.handle);
  if (error != cudaSuccess) return error;
  square<<<grid, block, 0, stream.handle>>>(x.data, x.data, n);
  if ((error = cudaGetLastError()) != cudaSuccess) return error;
  error = cudaMemcpyAsync(kept.data, x.data, bytes, cudaMemcpyDefault, stream.handle);
  if (error != cudaSuccess) return error;
  square<<<grid, block, 0, stream.handle>>>(x.data, x.data, n);
  if ((error = cudaGetLastError()) != cudaSuccess) return error;
  error = cudaMemcpyAsync(h_squares, kept.data, bytes, cudaMemcpyDefault, stream.handle);
  if (error != cudaSuccess) return error;
  error = cudaMemcpyAsync(h_fourths, x.data, bytes, cudaMemcpyDefault, stream.handle);
  if (error != cudaSuccess) return error;
  return cudaStreamSynchronize(stream.handle);
}
