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
  //~ // TODO(1): The facts of every device for which there is room; how many devices there are is the
  //~ // answer, room or not (about 10 lines).
  //~ static_cast<void>(facts), static_cast<void>(most);
  //~ return 0;
  //~begin 1
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) return -1;
  for (int device = 0; device < std::min(count, most); ++device) {
    cudaDeviceProp properties;
    if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) return -1;
    std::memcpy(facts[device].name, properties.name, sizeof facts[device].name);
    facts[device].memory = properties.totalGlobalMem;
    facts[device].multiprocessors = properties.multiProcessorCount;
  }
  return count;
  //~end
}

cudaError_t peer_matrix(int* reaches, int n) {
  //~ // TODO(2): Fill the matrix. Nobody asks the runtime about a device and itself (about 9 lines).
  //~ static_cast<void>(reaches), static_cast<void>(n);
  //~ return cudaSuccess;
  //~begin 2
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      reaches[i * n + j] = 1;
      if (i == j) continue;
      const cudaError_t error = cudaDeviceCanAccessPeer(&reaches[i * n + j], i, j);
      if (error != cudaSuccess) return error;
    }
  }
  return cudaSuccess;
  //~end
}

cudaError_t enable_access(int device, int peer) {
  //~ // TODO(3): Afterwards a kernel on `device` may use memory of `peer`, whether it could before or not.
  //~ // No error stays behind, and the current device is what it was (about 13 lines).
  //~ static_cast<void>(device), static_cast<void>(peer);
  //~ return cudaSuccess;
  //~begin 3
  if (device == peer) return cudaSuccess;
  int before = 0;
  cudaError_t error = cudaGetDevice(&before);
  if (error != cudaSuccess) return error;
  error = cudaSetDevice(device);
  if (error != cudaSuccess) return error;
  error = cudaDeviceEnablePeerAccess(peer, 0);
  if (error != cudaSuccess) {
    cudaGetLastError();  // or the next check of a launch finds it
  }
  if (error == cudaErrorPeerAccessAlreadyEnabled) error = cudaSuccess;
  cudaSetDevice(before);
  return error;
  //~end
}

cudaError_t launch_twice_on(int device, const float* d_x, float* d_y, int n) {
  //~ // TODO(4): Launch `twice` on `device`; the grid and the block are yours, and n may be 0. The caller
  //~ // finds the device current that was (about 11 lines).
  //~ static_cast<void>(device), static_cast<void>(d_x), static_cast<void>(d_y), static_cast<void>(n);
  //~ return cudaSuccess;
  //~begin 4
  constexpr int kBlock = 256;  // threads
  const int grid = (n + kBlock - 1) / kBlock;
  if (grid == 0) return cudaSuccess;
  int before = 0;
  cudaError_t error = cudaGetDevice(&before);
  if (error != cudaSuccess) return error;
  error = cudaSetDevice(device);
  if (error != cudaSuccess) return error;
  twice<<<grid, kBlock>>>(d_x, d_y, n);
  error = cudaGetLastError();
  cudaSetDevice(before);
  return error;
  //~end
}
