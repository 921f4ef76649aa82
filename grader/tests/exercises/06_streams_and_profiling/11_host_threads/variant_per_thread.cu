// Accepted: each thread works in its own default stream, and the mirror image comes by global
// memory.
#include <algorithm>
#include <array>
#include <thread>

#include "11_host_threads.h"

__global__ void half_of(float* x, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    x[i] = x[i] / 2.0f;
  }
}

cudaError_t halve_in_threads(const float* h_x, float* h_y, float* d_x, int n, int block) {
  int device = 0;
  cudaGetDevice(&device);
  std::array<cudaError_t, kThreads> errors{};
  std::array<std::thread, kThreads> threads;
  for (int t = 0; t < kThreads; ++t) {
    const int each = n / kThreads, first = t * each;
    const int length = t + 1 < kThreads ? each : n - first;
    const size_t bytes = length * sizeof(float);
    cudaError_t* error = &errors[t];
    threads[t] = std::thread([=] {
      if (length == 0) return;
      const auto went_well = [error](cudaError_t status) {
        if (*error == cudaSuccess) *error = status;
        return status == cudaSuccess;
      };
      const cudaStream_t own = cudaStreamPerThread;
      if (!went_well(cudaSetDevice(device))) return;
      went_well(cudaMemcpyAsync(d_x + first, h_x + first, bytes, cudaMemcpyDefault, own));
      half_of<<<8, block, 0, own>>>(d_x + first, length);
      went_well(cudaGetLastError());
      went_well(cudaMemcpyAsync(h_y + first, d_x + first, bytes, cudaMemcpyDefault, own));
      went_well(cudaStreamSynchronize(own));
    });
  }
  for (std::thread& thread : threads) thread.join();
  return *std::max_element(errors.begin(), errors.end());
}

bool runs_side_by_side(DefaultStream kind) { return kind != DefaultStream::kLegacy; }

__global__ void mirror_directly(const float* x, float* sums) {
  const int first = blockIdx.x * kMirror, t = threadIdx.x;
  sums[first + t] = x[first + t] + x[first + kMirror - 1 - t];
}

cudaError_t launch_mirror_sums(const float* d_x, float* d_sums, int blocks) {
  mirror_directly<<<blocks, kMirror>>>(d_x, d_sums);
  return cudaGetLastError();
}
