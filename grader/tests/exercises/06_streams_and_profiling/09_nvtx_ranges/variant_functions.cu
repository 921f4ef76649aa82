// Accepted: a function opens the range and calls what belongs into it. A refused call opens none.
#include <nvtx3/nvToolsExt.h>

#include "09_nvtx_ranges.h"

struct Range {
  explicit Range(const char* name) { nvtxRangePushA(name); }
  Range(const Range&) = delete;
  ~Range() { nvtxRangePop(); }
};

template <class Body>
static cudaError_t inside(const char* name, const Body& body) {
  const Range range(name);
  return body();
}

static cudaError_t triple_one_batch(const float* h_x, float* h_y, float* d_x, int length,
                                    cudaStream_t stream) {
  const size_t bytes = length * sizeof(float);
  cudaError_t error = inside(
      "copy in", [&] { return cudaMemcpyAsync(d_x, h_x, bytes, cudaMemcpyHostToDevice, stream); });
  if (error != cudaSuccess) return error;
  error = inside("launch", [&] {
    launch_triple(d_x, length, stream);
    return cudaGetLastError();
  });
  if (error != cudaSuccess) return error;
  return inside("copy out",
                [&] { return cudaMemcpyAsync(h_y, d_x, bytes, cudaMemcpyDeviceToHost, stream); });
}

cudaError_t triple_in_batches(const float* h_x, float* h_y, float* d_x, int n, int batch,
                              cudaStream_t stream) {
  if (batch < 1) return cudaErrorInvalidValue;
  return inside("process", [&] {
    for (int first = 0; first < n; first += batch) {
      const int length = batch < n - first ? batch : n - first;
      const cudaError_t error = inside(
          "batch", [&] { return triple_one_batch(h_x + first, h_y + first, d_x, length, stream); });
      if (error != cudaSuccess) return error;
    }
    return inside("wait", [&] { return cudaStreamSynchronize(stream); });
  });
}
