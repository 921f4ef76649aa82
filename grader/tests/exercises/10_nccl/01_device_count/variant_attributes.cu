// Attributes instead of properties, a scope that gives the device back, and access that is asked
// for only where it is missing.
#include <cstdio>

#include "01_device_count.h"

__global__ void twice(const float* x, float* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    y[i] = x[i] + x[i];
  }
}

namespace {

class Current {
 public:
  explicit Current(int device) {
    cudaGetDevice(&before_);
    cudaSetDevice(device);
  }
  ~Current() { cudaSetDevice(before_); }

 private:
  int before_ = 0;
};

}  // namespace

int list_devices(DeviceFacts* facts, int most) {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) return -1;
  for (int device = 0; device < count && device < most; ++device) {
    const Current scope(device);
    cudaDeviceProp properties;
    size_t unused = 0;
    int& multiprocessors = facts[device].multiprocessors;
    if (cudaGetDeviceProperties(&properties, device) != cudaSuccess ||
        cudaMemGetInfo(&unused, &facts[device].memory) != cudaSuccess ||
        cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device) !=
            cudaSuccess) {
      return -1;
    }
    std::snprintf(facts[device].name, sizeof facts[device].name, "%s", properties.name);
  }
  return count;
}

cudaError_t peer_matrix(int* reaches, int n) {
  cudaError_t error = cudaSuccess;
  for (int pair = 0; pair < n * n && error == cudaSuccess; ++pair) {
    const int i = pair / n, j = pair % n;
    if (i == j) {
      reaches[pair] = 1;
    } else {
      error = cudaDeviceCanAccessPeer(reaches + pair, i, j);
    }
  }
  return error;
}

cudaError_t enable_access(int device, int peer) {
  if (device == peer) return cudaSuccess;
  const Current scope(device);
  const cudaError_t error = cudaDeviceEnablePeerAccess(peer, 0);
  if (error == cudaSuccess) return error;
  static_cast<void>(cudaGetLastError());
  return error == cudaErrorPeerAccessAlreadyEnabled ? cudaSuccess : error;
}

cudaError_t launch_twice_on(int device, const float* d_x, float* d_y, int n) {
  if (n == 0) return cudaSuccess;
  const Current scope(device);
  twice<<<2, 128>>>(d_x, d_y, n);
  return cudaGetLastError();
}
