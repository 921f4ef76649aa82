// 10/03 Collectives: what the test calls.
#ifndef CHAPTERS_10_NCCL_03_COLLECTIVES_H_
#define CHAPTERS_10_NCCL_03_COLLECTIVES_H_

#include <nccl.h>

#include <cstddef>

// All calls: rank d is device d, its work goes to streams[d], nobody waits. They return the first
// result that is no success; a launch that fails is ncclUnhandledCudaError.

// Every device gets what device `root` has: d_w[d], n floats on device d.
ncclResult_t broadcast_weights(float* const* d_w, size_t n, int root, const ncclComm_t* comms,
                               const cudaStream_t* streams, int devices);

// One step of training, in which every device updates one part of the weights: w -= rate times the
// mean of the devices' gradients.
//   d_w[d]     devices * part floats on device d, the same on all of them, before and after
//   d_g[d]     devices * part floats on device d: its gradient
//   d_part[d]  part floats on device d for the mean of the gradients of part d (or their sum, if
//              you divide later), which device d updates; contents not needed before or after
// part is at least 1, and an int counts devices * part. The current device stays what it was.
ncclResult_t sharded_step(float* const* d_w, const float* const* d_g, float* const* d_part,
                          int part, float rate, const ncclComm_t* comms,
                          const cudaStream_t* streams, int devices);

#endif  // CHAPTERS_10_NCCL_03_COLLECTIVES_H_
