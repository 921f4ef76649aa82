// 10/04 Ring all-reduce: what the test calls, and what is given.
#ifndef CHAPTERS_10_NCCL_04_RING_ALL_REDUCE_H_
#define CHAPTERS_10_NCCL_04_RING_ALL_REDUCE_H_

#include <nccl.h>

#include <cstddef>

// Part k of n floats is [begin, begin + length): as many parts as devices, all of the same length
// but the last ones, which may be shorter or empty. A part that is not empty begins at a multiple
// of 4 floats.
struct Part {
  size_t begin, length;
};
Part part_of(size_t n, int devices, int k);

// Given: the longest part.
inline size_t longest_part(size_t n, int devices) {
  return (n + 4 * devices - 1) / (4 * devices) * 4;
}

// In place: d_x[d], n floats on device d, becomes the sum over all devices, in 2 (devices - 1)
// steps of ncclSend to the next rank and ncclRecv from the one before.
//   d_x[d]      aligned to 16 bytes
//   d_space[d]  longest_part(n, devices) floats on device d, aligned to 16 bytes; what is in it is
//               not needed
// Work of streams[d]; does not wait. Returns the first result that is no success, where a launch
// that fails is ncclUnhandledCudaError; the current device stays what it was.
ncclResult_t ring_all_reduce(float* const* d_x, float* const* d_space, size_t n,
                             const ncclComm_t* comms, const cudaStream_t* streams, int devices);

// Given, to be compared with: all devices send to device 0, which adds and sends the sum to each.
ncclResult_t star_all_reduce(float* const* d_x, float* d_space, size_t n, const ncclComm_t* comms,
                             const cudaStream_t* streams, int devices);

// Given: sum[i] += x[i], for n floats, both aligned to 16 bytes, on the current device.
void launch_add(float* d_sum, const float* d_x, size_t n, cudaStream_t stream);

#endif  // CHAPTERS_10_NCCL_04_RING_ALL_REDUCE_H_
