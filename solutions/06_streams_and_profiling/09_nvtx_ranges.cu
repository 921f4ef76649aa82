// 06/09 NVTX ranges: names for the phases of a program, which every profiler draws beside its rows.
//   triple_in_batches() works already. Its time line in a profiler shows copies and kernels, but
//   not which batch they belong to. With ranges it reads
//     process
//       batch                one for every batch, and in it
//         copy in, launch, copy out
//       wait
//   A range is time of the host: "launch" ends when the launch is queued, not when the kernel ends.
//   launch_triple() is given (09_nvtx_ranges.h).
//   TODOs      2
#include <nvtx3/nvToolsExt.h>

#include <algorithm>

#include "09_nvtx_ranges.h"

class Range {
 public:
  //~ // TODO(1): A Range lasts from its construction to its destruction, whatever way leads out of
  //~ // the block, and there is no second one that would close it again.
  //~ explicit Range(const char* name) { (void)name; }
  //~begin 1
  explicit Range(const char* name) { nvtxRangePushA(name); }
  ~Range() { nvtxRangePop(); }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
  //~end
};

cudaError_t triple_in_batches(const float* h_x, float* h_y, float* d_x, int n, int batch,
                              cudaStream_t stream) {
  //~ // TODO(2): The ranges are those above; each holds the copy, launch or wait of its phase alone.
  //~begin 2
  const Range process("process");
  //~end
  if (batch < 1) return cudaErrorInvalidValue;
  for (int first = 0; first < n; first += batch) {
    //~begin 2
    const Range whole("batch");
    //~end
    const int here = std::min(batch, n - first);
    const size_t bytes = here * sizeof(float);
    cudaError_t error;
    //~ error = cudaMemcpyAsync(d_x, h_x + first, bytes, cudaMemcpyHostToDevice, stream);
    //~ if (error != cudaSuccess) return error;
    //~ launch_triple(d_x, here, stream);
    //~ error = cudaGetLastError();
    //~ if (error != cudaSuccess) return error;
    //~ error = cudaMemcpyAsync(h_y + first, d_x, bytes, cudaMemcpyDeviceToHost, stream);
    //~ if (error != cudaSuccess) return error;
    //~begin 2
    {
      const Range phase("copy in");
      error = cudaMemcpyAsync(d_x, h_x + first, bytes, cudaMemcpyHostToDevice, stream);
    }
    if (error != cudaSuccess) return error;  // and every range ends
    {
      const Range phase("launch");
      launch_triple(d_x, here, stream);
      error = cudaGetLastError();
    }
    if (error != cudaSuccess) return error;
    {
      const Range phase("copy out");
      error = cudaMemcpyAsync(h_y + first, d_x, bytes, cudaMemcpyDeviceToHost, stream);
    }
    if (error != cudaSuccess) return error;
    //~end
  }
  //~begin 2
  const Range wait("wait");
  //~end
  return cudaStreamSynchronize(stream);
}
