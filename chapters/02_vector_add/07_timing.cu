// 02/07 Timing: how long does work take on the device, and how fast can the host launch?
//   work(context, stream) puts work into `stream` and returns before that work is done.
//   TODOs      3
#include <chrono>

#include "07_timing.h"

// Given. It does nothing: what it costs is what every launch costs.
__global__ void empty() {}

cudaError_t time_work(Work work, void* context, cudaStream_t stream, int repeats, float* ms) {
  cudaEvent_t start = nullptr, stop = nullptr;
  cudaError_t error = cudaEventCreate(&start);
  if (error == cudaSuccess) error = cudaEventCreate(&stop);
  // TODO(1): Call work once without timing it, and wait for it (2 lines).
  for (int i = 0; i < repeats && error == cudaSuccess; ++i) {
    // TODO(2): Put start and stop around this call, in `stream`; wait; read the time (6 lines).
    work(context, stream);
    ms[i] = 0.0f;
  }
  cudaEventDestroy(stop);
  cudaEventDestroy(start);
  return error;
}

double launches_per_second(int count) {
  using Clock = std::chrono::steady_clock;
  empty<<<1, 1>>>();
  cudaDeviceSynchronize();  // the clock starts with the code loaded and the device idle
  const Clock::time_point begin = Clock::now();
  // TODO(3): Launch `empty` count times, then wait until the last one is done (4 lines).
  const std::chrono::duration<double> seconds = Clock::now() - begin;
  return count / seconds.count();
}
