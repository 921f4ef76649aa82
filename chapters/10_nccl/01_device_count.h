// 10/01 Device count: what the test calls, and what is given.
#ifndef CHAPTERS_10_NCCL_01_DEVICE_COUNT_H_
#define CHAPTERS_10_NCCL_01_DEVICE_COUNT_H_

#include <cuda_runtime.h>

#include <cstddef>

struct DeviceFacts {
  char name[256];       // as the runtime calls it, ends with a 0
  size_t memory;        // bytes of global memory
  int multiprocessors;  // SMs
};

// Given: y[i] = 2 x[i] for n elements. x may lie on another device than the kernel runs on.
__global__ void twice(const float* x, float* y, int n);

// Facts of the devices 0, 1, ... as far as there is room: facts[0 .. most). Returns how many
// devices there are, or -1 after an error. The current device stays what it was.
int list_devices(DeviceFacts* facts, int most);

// reaches: n x n, row-major; reaches[i * n + j] is 1 if a kernel on device i may be given access to
// memory of device j, else 0. A device reaches itself. The current device stays what it was. This
// function and the two below return the first error.
cudaError_t peer_matrix(int* reaches, int n);

// Lets kernels on `device` use memory of `peer`. A success if they already may, as they may use
// that of their own device. Leaves no error behind, and the current device is what it was.
cudaError_t enable_access(int device, int peer);

// y[i] = 2 x[i] by a kernel on `device`; n from 0 to 2^30. d_y: n floats on `device`; d_x: n floats
// on any device that it has access to. Does not wait. The current device stays what it was.
cudaError_t launch_twice_on(int device, const float* d_x, float* d_y, int n);

#endif  // CHAPTERS_10_NCCL_01_DEVICE_COUNT_H_
