// 10/03 Collectives: broadcast, reduce-scatter and all-gather, in a step of training whose update
// is shared out.
//   d_w[d], d_g[d]  devices * part floats on device d;  d_part[d]  part floats on device d
//   Part k of an array is its elements [k * part, (k + 1) * part), and belongs to device k.
//   TODOs           3
#include "03_collectives.h"

ncclResult_t broadcast_weights(float* const* d_w, size_t n, int root, const ncclComm_t* comms,
                               const cudaStream_t* streams, int devices) {
  //~ // TODO(1): What device `root` has, all have afterwards, in place (about 6 lines).
  //~ static_cast<void>(d_w), static_cast<void>(n), static_cast<void>(root);
  //~ static_cast<void>(comms), static_cast<void>(streams), static_cast<void>(devices);
  //~ return ncclSuccess;
  //~begin 1
  ncclResult_t result = ncclGroupStart();
  for (int d = 0; d < devices && result == ncclSuccess; ++d) {
    result = ncclBroadcast(d_w[d], d_w[d], n, ncclFloat, root, comms[d], streams[d]);
  }
  const ncclResult_t ended = ncclGroupEnd();
  return result == ncclSuccess ? ended : result;
  //~end
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
  ncclResult_t result = ncclSuccess;
  //~ // TODO(2): Device d has the mean of all gradients in d_part[d], of its own part and no more, and has
  //~ // updated that part of its weights, by `update` (about 15 lines).
  //~ static_cast<void>(d_w), static_cast<void>(d_g), static_cast<void>(d_part);
  //~ static_cast<void>(part), static_cast<void>(rate), static_cast<void>(&update);
  //~begin 2
  result = ncclGroupStart();
  for (int d = 0; d < devices && result == ncclSuccess; ++d) {
    result = ncclReduceScatter(d_g[d], d_part[d], part, ncclFloat, ncclAvg, comms[d], streams[d]);
  }
  const ncclResult_t reduced = ncclGroupEnd();
  if (result == ncclSuccess) result = reduced;
  if (result != ncclSuccess) return result;
  constexpr int kBlock = 256;  // threads
  int before = 0;
  cudaGetDevice(&before);
  for (int d = 0; d < devices; ++d) {
    cudaSetDevice(d);
    update<<<(part + kBlock - 1) / kBlock, kBlock, 0, streams[d]>>>(d_w[d] + d * part, d_part[d],
                                                                    rate, part);
  }
  cudaSetDevice(before);
  if (cudaGetLastError() != cudaSuccess) return ncclUnhandledCudaError;  // of any launch
  //~end

  //~ // TODO(3): Device d has updated part d of the weights. Afterwards every device has all parts, in
  //~ // their places, without another array in between (about 6 lines).
  //~ static_cast<void>(comms), static_cast<void>(streams), static_cast<void>(devices);
  //~begin 3
  result = ncclGroupStart();
  for (int d = 0; d < devices && result == ncclSuccess; ++d) {
    result = ncclAllGather(d_w[d] + d * part, d_w[d], part, ncclFloat, comms[d], streams[d]);
  }
  const ncclResult_t ended = ncclGroupEnd();
  if (result == ncclSuccess) result = ended;
  //~end
  return result;
}
