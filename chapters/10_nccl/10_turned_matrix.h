// 10/10 Turned matrix: what the test calls.
#ifndef CHAPTERS_10_NCCL_10_TURNED_MATRIX_H_
#define CHAPTERS_10_NCCL_10_TURNED_MATRIX_H_

#include <nccl.h>

// How `total` rows are shared out: device d has those from first_of(total, devices, d) up to the
// first of the next device. A share may be one row larger than another, or empty.
inline int first_of(int total, int devices, int d) {
  return static_cast<int>(static_cast<long long>(total) * d / devices);
}
inline int share_of(int total, int devices, int d) {
  return first_of(total, devices, d + 1) - first_of(total, devices, d);
}

// A matrix of rows x cols floats is turned into its transpose, cols x rows. Both are row-major and
// lie on all devices together, each of which has its share of the rows:
//   d_a[d]      share_of(rows, devices, d) x cols, on device d
//   d_t[d]      share_of(cols, devices, d) x rows, on device d: rows of the transpose, columns of a
//   d_space[d]  as many floats as d_a[d] and d_t[d] together; what is in it is not needed
// rows and cols from 0; an int counts rows x cols. Work of streams[d]; does not wait. Returns the
// first result that is no success; the current device stays what it was.
ncclResult_t turn_matrix(const float* const* d_a, float* const* d_t, float* const* d_space,
                         int rows, int cols, const ncclComm_t* comms, const cudaStream_t* streams,
                         int devices);

// Given, to be compared with: all devices send their rows to device 0, which turns the matrix and
// sends to each what it is to have. d_space is on device 0: twice rows x cols floats.
ncclResult_t turn_at_device_0(const float* const* d_a, float* const* d_t, float* d_space, int rows,
                              int cols, const ncclComm_t* comms, const cudaStream_t* streams,
                              int devices);

#endif  // CHAPTERS_10_NCCL_10_TURNED_MATRIX_H_
