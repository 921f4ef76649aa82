// Accepted: ranges with a colour, opened and closed by hand, with one way out.
#include <nvtx3/nvToolsExt.h>

#include <algorithm>

#include "09_nvtx_ranges.h"

static void open_range(const char* name, unsigned argb) {
  nvtxEventAttributes_t attributes = {};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.colorType = NVTX_COLOR_ARGB;
  attributes.color = argb;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = name;
  nvtxRangePushEx(&attributes);
}

__global__ void times_three(float* x, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    x[i] = 3.0f * x[i];
  }
}

cudaError_t triple_in_batches(const float* h_x, float* h_y, float* d_x, int n, int batch,
                              cudaStream_t stream) {
  open_range("process", 0xFF444444);
  cudaError_t error = batch < 1 ? cudaErrorInvalidValue : cudaSuccess;
  for (int first = 0; error == cudaSuccess && first < n; first += batch) {
    const int here = std::min(batch, n - first);
    open_range("batch", 0xFF0000FF);
    open_range("copy in", 0xFF00FF00);
    error = cudaMemcpyAsync(d_x, h_x + first, here * sizeof(float), cudaMemcpyDefault, stream);
    nvtxRangePop();
    open_range("launch", 0xFFFF0000);
    if (error == cudaSuccess) times_three<<<2, 64, 0, stream>>>(d_x, here);
    if (error == cudaSuccess) error = cudaGetLastError();
    nvtxRangePop();
    open_range("copy out", 0xFF00FF00);
    if (error == cudaSuccess) {
      error = cudaMemcpyAsync(h_y + first, d_x, here * sizeof(float), cudaMemcpyDefault, stream);
    }
    nvtxRangePop();
    nvtxRangePop();
  }
  if (batch >= 1) {
    open_range("wait", 0xFF888888);
    const cudaError_t waited = cudaStreamSynchronize(stream);
    if (error == cudaSuccess) error = waited;
    nvtxRangePop();
  }
  nvtxRangePop();
  return error;
}
