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
  //~ // TODO(1): Count the devices, and ask for the properties of each that has room (about 8 lines).
  //~ static_cast<void>(facts), static_cast<void>(most);
  //~begin 1
  if (cudaGetDeviceCount(&count) != cudaSuccess) return -1;
  for (int device = 0; device < std::min(count, most); ++device) {
    cudaDeviceProp properties;
    if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) return -1;
    std::memcpy(facts[device].name, properties.name, sizeof facts[device].name);
    facts[device].memory = properties.totalGlobalMem;
    facts[device].multiprocessors = properties.multiProcessorCount;
  }
  //~end
  return count;
}

cudaError_t peer_matrix(int* reaches, int n) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      //~ reaches[i * n + j] = 0;  // TODO(2): Ask for every pair; nobody asks for i = j (about 6 lines).
      //~begin 2
      reaches[i * n + j] = 1;
      if (i == j) continue;
      const cudaError_t error = cudaDeviceCanAccessPeer(&reaches[i * n + j], i, j);
      if (error != cudaSuccess) return error;
      //~end
    }
  }
  return cudaSuccess;
}

cudaError_t enable_access(int device, int peer) {
  if (device == peer) return cudaSuccess;
  cudaError_t error = cudaSuccess;
  //~ // TODO(3): Make `device` current, enable, make the device from before current again. That access is
  //~ // enabled already is no failure, but the runtime remembers it as one (about 9 lines).
  //~begin 3
  int before = 0;
  error = cudaGetDevice(&before);
  if (error != cudaSuccess) return error;
  error = cudaSetDevice(device);
  if (error != cudaSuccess) return error;
  error = cudaDeviceEnablePeerAccess(peer, 0);
  if (error == cudaErrorPeerAccessAlreadyEnabled) {
    cudaGetLastError();  // or the next check of a launch finds it
    error = cudaSuccess;
  }
  cudaSetDevice(before);
  //~end
  return error;
}

cudaError_t launch_twice_on(int device, const float* d_x, float* d_y, int n) {
  constexpr int kBlock = 256;  // threads
  const int grid = (n + kBlock - 1) / kBlock;
  if (grid == 0) return cudaSuccess;
  cudaError_t error = cudaSuccess;
  //~ // TODO(4): A launch runs on the current device. Launch on `device` (about 7 lines).
  //~ static_cast<void>(device);
  //~ twice<<<grid, kBlock>>>(d_x, d_y, n);
  //~begin 4
  int before = 0;
  error = cudaGetDevice(&before);
  if (error != cudaSuccess) return error;
  error = cudaSetDevice(device);
  if (error != cudaSuccess) return error;
  twice<<<grid, kBlock>>>(d_x, d_y, n);
  error = cudaGetLastError();
  cudaSetDevice(before);
  //~end
  return error;
}
