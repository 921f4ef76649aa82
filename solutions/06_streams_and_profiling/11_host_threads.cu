// 06/11 Host threads: four CPU threads feed one card, and what a wait of the host does not do.
//   h_x, h_y   n floats in pinned host memory;  d_x  n floats in device memory;  y = x / 2
//   Every call of the runtime may be made from any thread. Two things belong to each thread alone:
//   its current device, and the last error. A stream may be used by several threads, but then it
//   orders their work.
//   TODOs      3
#include <algorithm>
#include <thread>
#include <vector>

#include "11_host_threads.h"

// Given. One thread per element.
__global__ void halve(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    x[i] *= 0.5f;
  }
}

//~begin 1
// What one CPU thread does: floats [first, first + length), in a stream of its own, to the end.
static cudaError_t halve_slice(const float* h_x, float* h_y, float* d_x, int first, int length,
                               int block) {
  if (length <= 0) return cudaSuccess;
  const size_t bytes = length * sizeof(float);
  cudaStream_t stream = nullptr;
  cudaError_t error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  if (error != cudaSuccess) return error;
  error = cudaMemcpyAsync(d_x + first, h_x + first, bytes, cudaMemcpyHostToDevice, stream);
  if (error == cudaSuccess) {
    halve<<<(length + block - 1) / block, block, 0, stream>>>(d_x + first, length);
    // Asked for here: the thread that joins this one has a last error of its own.
    error = cudaGetLastError();
  }
  if (error == cudaSuccess) {
    error = cudaMemcpyAsync(h_y + first, d_x + first, bytes, cudaMemcpyDeviceToHost, stream);
  }
  const cudaError_t ended = cudaStreamSynchronize(stream);
  if (error == cudaSuccess) error = ended;
  cudaStreamDestroy(stream);
  return error;
}

//~end
cudaError_t halve_in_threads(const float* h_x, float* h_y, float* d_x, int n, int block) {
  //~ // TODO(1): kThreads CPU threads do a slice each, independently, on the caller's device, until their
  //~ // part of h_y is there. The first error of any of them is returned, also that of a launch.
  //~ (void)h_x, (void)h_y, (void)d_x, (void)n, (void)block;
  //~ return cudaSuccess;
  //~begin 1
  int device = 0;
  cudaGetDevice(&device);
  const int length = (n + kThreads - 1) / kThreads;
  std::vector<cudaError_t> errors(kThreads, cudaSuccess);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([=, &errors] {
      errors[t] = cudaSetDevice(device);  // a new thread begins with device 0
      if (errors[t] != cudaSuccess) return;
      const int first = std::min(t * length, n);
      errors[t] = halve_slice(h_x, h_y, d_x, first, std::min(length, n - first), block);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto failed = std::find_if(errors.begin(), errors.end(),
                                   [](cudaError_t error) { return error != cudaSuccess; });
  return failed == errors.end() ? cudaSuccess : *failed;
  //~end
}

// Two CPU threads launch a long kernel each, without naming a stream. Can the kernels run side by
// side, if the default stream is the legacy one (as nvcc compiles without options), or if every
// thread has its own (nvcc --default-stream per-thread)? The test measures both.
bool runs_side_by_side(DefaultStream kind) {
  //~ (void)kind;
  //~ return false;  // TODO(2): Your prediction, for each of the two.
  //~begin 2
  return kind == DefaultStream::kPerThread;  // the legacy one is one stream, for all threads
  //~end
}

// sums[i] = x[i] + x[its mirror image in the block]; kMirror threads per block.
__global__ void mirror_sums(const float* x, float* sums) {
  __shared__ float values[kMirror];  // x of this block
  const int t = threadIdx.x, i = blockIdx.x * kMirror + t;
  values[t] = x[i];
  //~ // TODO(3): cudaDeviceSynchronize() below does not help here. What does? (1 line)
  //~begin 3
  __syncthreads();  // the mirror image is another thread's, mostly of another warp
  //~end
  sums[i] = values[t] + values[kMirror - 1 - t];
}

cudaError_t launch_mirror_sums(const float* d_x, float* d_sums, int blocks) {
  mirror_sums<<<blocks, kMirror>>>(d_x, d_sums);
  const cudaError_t launched = cudaGetLastError();  // a launch that is refused leaves it here
  // The host waits until the last thread is done. It has no say in when the first one goes on.
  const cudaError_t ended = cudaDeviceSynchronize();
  return launched != cudaSuccess ? launched : ended;
}
