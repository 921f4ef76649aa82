// The sum of the gradients, and a rate that is divided by the number of devices.
#include "03_collectives.h"

ncclResult_t broadcast_weights(float* const* d_w, size_t n, int root, const ncclComm_t* comms,
                               const cudaStream_t* streams, int devices) {
  ncclResult_t result = ncclGroupStart();
  for (int d = 0; d < devices && result == ncclSuccess; ++d) {
    result = ncclBcast(d_w[d], n, ncclFloat, root, comms[d], streams[d]);
  }
  const ncclResult_t ended = ncclGroupEnd();
  return result == ncclSuccess ? ended : result;
}

// Given. One thread per weight of a part.
__global__ void update(float* w, const float* gradient, float rate, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    w[i] -= rate * gradient[i];
  }
}

ncclResult_t sharded_step(float* const* d_w, const float* const* d_g, float* const* d_part,
                          int part, float rate, const ncclComm_t* comms,
                          const cudaStream_t* streams, int devices) {
  ncclResult_t result = ncclGroupStart();
  for (int d = 0; d < devices && result == ncclSuccess; ++d) {
    result = ncclReduceScatter(d_g[d], d_part[d], part, ncclFloat, ncclSum, comms[d], streams[d]);
  }
  ncclResult_t ended = ncclGroupEnd();
  if (result == ncclSuccess) result = ended;
  if (result != ncclSuccess) return result;

  constexpr int kBlock = 256;  // threads
  int before = 0;
  cudaGetDevice(&before);
  for (int d = 0; d < devices; ++d) {
    cudaSetDevice(d);
    update<<<(part + kBlock - 1) / kBlock, kBlock, 0, streams[d]>>>(d_w[d] + d * part, d_part[d],
                                                                    rate / devices, part);
  }
  cudaSetDevice(before);
  if (cudaGetLastError() != cudaSuccess) return ncclUnhandledCudaError;

  result = ncclGroupStart();
  for (int d = 0; d < devices && result == ncclSuccess; ++d) {
    result = ncclAllGather(d_w[d] + d * part, d_w[d], part, ncclFloat, comms[d], streams[d]);
  }
  ended = ncclGroupEnd();
  return result == ncclSuccess ? ended : result;
}
