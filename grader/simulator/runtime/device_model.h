// The device that the simulator pretends to be: the limits and attributes of gpu_model() (those of
// the H200 measured on one, CUDA 13.0), with the memory that the simulator sells.
#ifndef WARPLINGS_SIMULATOR_RUNTIME_DEVICE_MODEL_H_
#define WARPLINGS_SIMULATOR_RUNTIME_DEVICE_MODEL_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "core/gpu_model.h"

namespace warplings::sim {

// What is the same on every card that the simulator can stand for; the rest is gpu_model_of's.
struct DeviceModel {
  static constexpr int kMaxThreadsPerBlock = 1024;
  static constexpr unsigned kMaxBlock[3] = {1024, 1024, 64};
  static constexpr unsigned kMaxGrid[3] = {2147483647, 65535, 65535};
  static constexpr size_t kSharedPerBlock = 49152;  // bytes, without asking for more
  static constexpr int kWarpSize = 32;
  static constexpr size_t kPitchAlignment = 512;    // bytes, of cudaMallocPitch
  static constexpr size_t kTextureAlignment = 512;  // bytes, of memory that a texture reads
  static constexpr size_t kTexturePitchAlignment = 32;
  static constexpr size_t kTotalConstant = 65536;
  static constexpr int kVersion = 13000;
};

// GRADE_SIM_DEVICES, 1 unless set.
int device_count();
inline bool is_device(int device) { return device >= 0 && device < device_count(); }

// False if the attribute does not exist.
bool device_attribute(cudaDeviceAttr attribute, int device, int* value);

void fill_properties(int device, cudaDeviceProp* properties);

// Blocks of `threads` threads that one multiprocessor of the current device holds; 0 if not even
// one fits.
int resident_blocks(int threads, int registers_per_thread, size_t shared_bytes);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_DEVICE_MODEL_H_
