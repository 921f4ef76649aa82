// Accepted: a stream for each role, with events between them, where there are three streams.
#include <algorithm>

#include "02_overlap.h"

namespace {

// Makes `later` wait for all that is in `earlier` now.
cudaError_t order(cudaStream_t earlier, cudaStream_t later) {
  if (earlier == later) return cudaSuccess;
  cudaEvent_t done = nullptr;
  cudaError_t error = cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
  if (error == cudaSuccess) error = cudaEventRecord(done, earlier);
  if (error == cudaSuccess) error = cudaStreamWaitEvent(later, done, 0);
  cudaEventDestroy(done);  // lives until it has been reached
  return error;
}

}  // namespace

cudaError_t series_overlapped(const float* h_x, float* h_y, float* d_x, float* d_y, int n,
                              int terms, const cudaStream_t* streams, int count) {
  const cudaStream_t in = streams[0], compute = streams[1 % count], out = streams[2 % count];
  const int length = std::max((n + 23) / 24, 1 << 17);
  cudaError_t error = cudaSuccess;
  for (int first = 0; first < n && error == cudaSuccess; first += length) {
    const int here = std::min(length, n - first);
    const size_t bytes = here * sizeof(float);
    error = cudaMemcpyAsync(d_x + first, h_x + first, bytes, cudaMemcpyDefault, in);
    if (error == cudaSuccess) error = order(in, compute);
    if (error == cudaSuccess) {
      error = launch_geometric_series(d_x + first, d_y + first, here, terms, compute);
    }
    if (error == cudaSuccess) error = order(compute, out);
    if (error == cudaSuccess) {
      error = cudaMemcpyAsync(h_y + first, d_y + first, bytes, cudaMemcpyDefault, out);
    }
  }
  return error;
}
