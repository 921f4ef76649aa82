// 10/01 Device count: which devices are here, and which of them reach each other's memory.
//   A thread of the host has a current device. Allocations, launches and most questions are about
//   that one, so a function that changes it gives it back.
//   d_x, d_y   n floats in device memory, not always of the same device
//   TODOs      4
#include <algorithm>
#include <cstring>

#include "01_device_count.h"

__global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = 2.0f * x[i];
  }
}

int list_devices(DeviceFacts* facts, int most) {
  int count = 0;
  // TODO(1): Count the devices, and ask for the properties of each that has room (about 8 lines).
  static_cast<void>(facts), static_cast<void>(most);
  return count;
}

cudaError_t peer_matrix(int* reaches, int n) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      reaches[i * n + j] = 0;  // TODO(2): Ask for every pair; nobody asks for i = j (about 6 lines).
    }
  }
  return cudaSuccess;
}

cudaError_t enable_access(int device, int peer) {
  if (device == peer) return cudaSuccess;
  cudaError_t error = cudaSuccess;
  // TODO(3): Make `device` current, enable, make the device from before current again. That access is
  // enabled already is no failure, but the runtime remembers it as one (about 9 lines).
  return error;
}

cudaError_t launch_twice_on(int device, const float* d_x, float* d_y, int n) {
  constexpr int kBlock = 256;  // threads
  const int grid = (n + kBlock - 1) / kBlock;
  if (grid == 0) return cudaSuccess;
  cudaError_t error = cudaSuccess;
  // TODO(4): A launch runs on the current device. Launch on `device` (about 7 lines).
  static_cast<void>(device);
  twice<<<grid, kBlock>>>(d_x, d_y, n);
  return error;
}
