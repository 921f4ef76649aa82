// What the `_ptsz` and `_ptds` names have in common (see api_per_thread.cpp).
#ifndef WARPLINGS_SIMULATOR_RUNTIME_PER_THREAD_H_
#define WARPLINGS_SIMULATOR_RUNTIME_PER_THREAD_H_

#include <cuda_runtime_api.h>

namespace warplings::sim {

inline cudaStream_t own(cudaStream_t stream) {
  return stream == nullptr ? cudaStreamPerThread : stream;
}

// The blocking forms: the asynchronous one on the thread's stream, then wait for it.
inline cudaError_t then_wait(cudaError_t error) {
  return error == cudaSuccess ? cudaStreamSynchronize(cudaStreamPerThread) : error;
}

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_PER_THREAD_H_
