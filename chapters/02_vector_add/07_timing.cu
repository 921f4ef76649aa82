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
  // TODO(1): What happens only once is over before the first call that is timed (2 lines).
  for (int i = 0; i < repeats && error == cudaSuccess; ++i) {
    // TODO(2): ms[i] is how long the device took for this call (about 6 lines).
    work(context, stream);
    ms[i] = 0.0f;
  }
  if (stop != nullptr) cudaEventDestroy(stop);
  if (start != nullptr) cudaEventDestroy(start);
  return error;
}

double launches_per_second(int count) {
  // TODO(3): The rate at which `count` launches of `empty` are made and done, the code loaded and
  // the device idle when the clock starts (about 10 lines).
  return 0.0;
}
