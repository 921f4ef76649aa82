// 02/02 Host pipeline: everything around a kernel, from host memory to host memory.
//   h_x        n floats in host memory, n >= 1; h_squares: x * x; h_fourths: its square
//   block      threads per block, chosen by the caller: a bad value makes the launch fail
//   Every path, also a failing one, returns the first error and leaves no device memory allocated.
//   TODOs      3
#include "02_host_pipeline.h"

struct DeviceArrays {
  float* x = nullptr;        // n floats: h_x, then its squares, then its fourth powers
  float* squares = nullptr;  // n floats: what x held between the two launches
};

// Given. The old values are gone afterwards.
__global__ void square_in_place(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    x[i] *= x[i];
  }
}

static cudaError_t allocate_and_copy_in(DeviceArrays* d, const float* h_x, size_t bytes) {
  //~ // TODO(1): Both arrays exist, and d->x holds the values of h_x, or an error says why not.
  //~ return cudaSuccess;
  //~begin 1
  cudaError_t error = cudaMalloc(&d->x, bytes);
  if (error != cudaSuccess) return error;
  error = cudaMalloc(&d->squares, bytes);
  if (error != cudaSuccess) return error;
  return cudaMemcpy(d->x, h_x, bytes, cudaMemcpyHostToDevice);
  //~end
}

static cudaError_t square_twice(DeviceArrays* d, int n, int block) {
  const int grid = (n + block - 1) / block;
  square_in_place<<<grid, block>>>(d->x, n);
  cudaError_t error = cudaGetLastError();  // a launch returns nothing: its error is asked for
  if (error != cudaSuccess) return error;
  //~ // TODO(2): d->squares holds the squares, d->x the fourth powers, and the device is done.
  //~begin 2
  error = cudaMemcpy(d->squares, d->x, n * sizeof(float), cudaMemcpyDeviceToDevice);
  if (error != cudaSuccess) return error;
  square_in_place<<<grid, block>>>(d->x, n);
  error = cudaGetLastError();
  if (error != cudaSuccess) return error;
  error = cudaDeviceSynchronize();  // an error inside the kernel is returned here
  //~end
  return error;
}

cudaError_t squares_and_fourths(const float* h_x, float* h_squares, float* h_fourths, int n,
                                int block) {
  const size_t bytes = n * sizeof(float);
  DeviceArrays d;
  cudaError_t error = allocate_and_copy_in(&d, h_x, bytes);
  if (error == cudaSuccess) error = square_twice(&d, n, block);
  //~ // TODO(3): If all went well, the results are on the host; in any case nothing stays allocated.
  //~begin 3
  if (error == cudaSuccess) error = cudaMemcpy(h_squares, d.squares, bytes, cudaMemcpyDeviceToHost);
  if (error == cudaSuccess) error = cudaMemcpy(h_fourths, d.x, bytes, cudaMemcpyDeviceToHost);
  cudaFree(d.squares);  // freeing nullptr is legal, so no path needs a case of its own
  cudaFree(d.x);
  //~end
  return error;
}
