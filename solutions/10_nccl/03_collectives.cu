// 10/03 Collectives: broadcast, reduce-scatter and all-gather, in a step of training whose update
// is shared out.
//   d_w[d], d_g[d]  devices * part floats on device d;  d_part[d]  part floats on device d
//   Part k of an array is its elements [k * part, (k + 1) * part), and belongs to device k.
//   TODOs           3
#include "03_collectives.h"

ncclResult_t broadcast_weights(float* const* d_w, size_t n, int root, const ncclComm_t* comms,
                               const cudaStream_t* streams, int devices) {
  ncclResult_t result = ncclGroupStart();
  for (int d = 0; d < devices && result == ncclSuccess; ++d) {
    //~ // TODO(1): In place: what device `root` has goes to all (about 2 lines).
    //~ static_cast<void>(d_w), static_cast<void>(n), static_cast<void>(root);
    //~ static_cast<void>(comms), static_cast<void>(streams);
    //~begin 1
    result = ncclBroadcast(d_w[d], d_w[d], n, ncclFloat, root, comms[d], streams[d]);
    //~end
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
    //~ // TODO(2): Device d gets the mean of all gradients, but only of its part (about 2 lines).
    //~ static_cast<void>(comms);
    //~begin 2
    result = ncclReduceScatter(d_g[d], d_part[d], part, ncclFloat, ncclAvg, comms[d], streams[d]);
    //~end
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
                                                                    rate, part);
  }
  cudaSetDevice(before);

  result = ncclGroupStart();
  for (int d = 0; d < devices && result == ncclSuccess; ++d) {
    //~ // TODO(3): Device d has updated part d. Let every device get all parts, in place: what is sent
    //~ // lies where it belongs already (about 2 lines).
    //~begin 3
    result = ncclAllGather(d_w[d] + d * part, d_w[d], part, ncclFloat, comms[d], streams[d]);
    //~end
  }
  ended = ncclGroupEnd();
  return result == ncclSuccess ? ended : result;
}
