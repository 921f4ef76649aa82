// Several devices: which one is current, and waiting for all that a test uses.
#include <algorithm>

#include "kit/context.h"
#include "kit/kit.h"

namespace kit {

int device_count() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) count = 0;
  return count;
}

int current_device() {
  int device = 0;
  cudaGetDevice(&device);
  return device;
}

OnDevice::OnDevice(int device) : before_(current_device()) {
  if (device != before_) cudaSetDevice(device);
}

OnDevice::~OnDevice() {
  if (current_device() != before_) cudaSetDevice(before_);
}

UnlikeDevice::UnlikeDevice(int device) { wsim_make_unlike(device); }

// A case that runs once more on device 1 has its own unlike one.
UnlikeDevice::~UnlikeDevice() { wsim_make_unlike(context().other_device ? 1 : -1); }

void uses_device(int device) { context().devices.insert(device); }

cudaError_t synchronize_devices() {
  // Asking a device that nobody uses would make a context there, which takes time and memory.
  if (context().devices.size() <= 1) return cudaDeviceSynchronize();
  const OnDevice scope(current_device());
  cudaError_t error = cudaSuccess;
  for (const int device : context().devices) {
    cudaSetDevice(device);
    const cudaError_t ended = cudaDeviceSynchronize();
    if (error == cudaSuccess) error = ended;
  }
  return error;
}

}  // namespace kit
