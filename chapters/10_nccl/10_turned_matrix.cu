// 10/10 Turned matrix, the capstone: the transpose of a matrix whose rows lie on several devices.
//   d_a[d]  the rows of a that device d has;  d_t[d]  its rows of the transpose
//   d_space[d]  as many floats as both, for whatever you need them
//   Budget: what leaves a device is what another one is to have, once, in one step; memory is read
//   and written in whole sectors.
//   Bar: one and a half times the speed of turning it on device 0.
//
//   Nothing is given here: kernels, launches, blocks and their places are yours.
#include "10_turned_matrix.h"

ncclResult_t turn_matrix(const float* const* d_a, float* const* d_t, float* const* d_space,
                         int rows, int cols, const ncclComm_t* comms, const cudaStream_t* streams,
                         int devices) {
  static_cast<void>(d_a), static_cast<void>(d_t), static_cast<void>(d_space);
  static_cast<void>(rows), static_cast<void>(cols), static_cast<void>(comms);
  static_cast<void>(streams), static_cast<void>(devices);
  return ncclSuccess;
}
