// 10/02 All-reduce: what the test calls, and what is given.
#ifndef CHAPTERS_10_NCCL_02_ALL_REDUCE_H_
#define CHAPTERS_10_NCCL_02_ALL_REDUCE_H_

#include <nccl.h>

#include <cstddef>

// comms[d]: the communicator of rank d, which is device d, of `devices` ranks in this process. The
// caller destroys them.
ncclResult_t make_ranks(ncclComm_t* comms, int devices);

// In place: d_x[d], n floats on device d, becomes the sum over all devices. Work of streams[d];
// does not wait. Returns the first result that is no success.
ncclResult_t all_reduce_sum(float* const* d_x, size_t n, const ncclComm_t* comms,
                            const cudaStream_t* streams, int devices);

// Given, on the current device: d_facts[0] = the sum of the squares, d_facts[1] = the largest
// absolute value of n floats.
void launch_facts(const float* d_x, float* d_facts, int n, cudaStream_t stream);

// d_facts[d], 2 floats on device d: the sum of squares and the largest absolute value of all
// devices' values together. d_x[d]: n floats on device d. Work of streams[d]; does not wait. The
// current device stays what it was. Returns the first result that is no success; a launch that
// fails is ncclUnhandledCudaError.
ncclResult_t facts_of_all(const float* const* d_x, float* const* d_facts, int n,
                          const ncclComm_t* comms, const cudaStream_t* streams, int devices);

#endif  // CHAPTERS_10_NCCL_02_ALL_REDUCE_H_
