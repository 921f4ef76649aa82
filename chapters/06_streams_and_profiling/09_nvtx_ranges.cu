// 06/09 NVTX ranges: names for the phases of a program, which every profiler draws beside its rows.
//   triple_in_batches() works already. Its time line in a profiler shows copies and kernels, but
//   not which batch they belong to. With ranges it reads
//     process
//       batch                one for every batch, and in it
//         copy in, launch, copy out
//       wait
//   A range is time of the host: "launch" ends when the launch is queued, not when the kernel ends.
//   TODOs      2
#include <nvtx3/nvToolsExt.h>

#include <algorithm>

#include "09_nvtx_ranges.h"

// A range from construction to destruction, so that no way out of a block leaves it open.
class Range {
 public:
  explicit Range(const char* name) { (void)name; }  // TODO(1): nvtxRangePushA
  ~Range() {}                                       // TODO(1): nvtxRangePop
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

// Given. One thread per element.
__global__ void triple(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    x[i] *= 3.0f;
  }
}

cudaError_t triple_in_batches(const float* h_x, float* h_y, float* d_x, int n, int batch,
                              cudaStream_t stream) {
  constexpr int kBlock = 128;  // threads
  // TODO(2): Open a Range at the beginning of each phase below, and of the whole function. The
  // braces are there already (6 lines).
  if (batch < 1) return cudaErrorInvalidValue;
  for (int first = 0; first < n; first += batch) {
    const int here = std::min(batch, n - first);
    const size_t bytes = here * sizeof(float);
    {
      cudaMemcpyAsync(d_x, h_x + first, bytes, cudaMemcpyHostToDevice, stream);
    }
    {
      triple<<<(here + kBlock - 1) / kBlock, kBlock, 0, stream>>>(d_x, here);
    }
    {
      cudaMemcpyAsync(h_y + first, d_x, bytes, cudaMemcpyDeviceToHost, stream);
    }
  }
  return cudaStreamSynchronize(stream);
}
