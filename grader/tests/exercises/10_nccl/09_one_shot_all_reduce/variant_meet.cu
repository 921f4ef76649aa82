// All streams meet at device 0 before and after, and a grid of fixed size walks over the array.
#include "09_one_shot_all_reduce.h"

struct Inputs {
  const float* x[kMostDevices];  // of device 0, 1, ...
};

// One thread per 4 elements; the first n % 4 threads take one more each, from the end.
__global__ void sum_peers(Inputs in, float* y, int n, int devices) {
  const int quads = n / 4, threads = gridDim.x * blockDim.x;
  const int first = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = first; i < quads; i += threads) {
    float4 sum = reinterpret_cast<const float4*>(in.x[0])[i];
    for (int d = 1; d < devices; ++d) {
      const float4 more = reinterpret_cast<const float4*>(in.x[d])[i];
      sum = make_float4(sum.x + more.x, sum.y + more.y, sum.z + more.z, sum.w + more.w);
    }
    reinterpret_cast<float4*>(y)[i] = sum;
  }
  for (int i = 4 * quads + first; i < n; i += threads) {
    float sum = in.x[0][i];
    for (int d = 1; d < devices; ++d) sum += in.x[d][i];
    y[i] = sum;
  }
}

// Every stream behind what all streams have been given: device 0 waits for the others, and the
// others for device 0.
static void meet(const cudaEvent_t* events, const cudaStream_t* streams, int devices) {
  for (int d = 1; d < devices; ++d) {
    cudaSetDevice(d);
    cudaEventRecord(events[d], streams[d]);
    cudaStreamWaitEvent(streams[0], events[d], 0);
  }
  cudaSetDevice(0);
  cudaEventRecord(events[0], streams[0]);
  for (int d = 1; d < devices; ++d) cudaStreamWaitEvent(streams[d], events[0], 0);
}

cudaError_t one_shot_all_reduce(const float* const* d_x, float* const* d_y, int n,
                                const cudaEvent_t* ready, const cudaStream_t* streams,
                                int devices) {
  int before = 0;
  cudaGetDevice(&before);
  Inputs in = {};
  for (int d = 0; d < devices; ++d) in.x[d] = d_x[d];
  meet(ready, streams, devices);
  cudaError_t error = cudaSuccess;
  for (int d = 0; d < devices && error == cudaSuccess; ++d) {
    cudaSetDevice(d);
    sum_peers<<<16, 256, 0, streams[d]>>>(in, d_y[d], n, devices);
    error = cudaGetLastError();
  }
  cudaSetDevice(before);
  return error;
}

cudaError_t wait_for_readers(const cudaEvent_t* done, const cudaStream_t* streams, int devices) {
  int before = 0;
  cudaGetDevice(&before);
  meet(done, streams, devices);
  cudaSetDevice(before);
  return cudaGetLastError();
}
