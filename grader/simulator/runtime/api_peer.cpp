// Several devices in the CUDA runtime API: what connects them, and how they are found.
#include <cuda_runtime_api.h>

#include <cstdio>

#include "runtime/api.h"
#include "runtime/device_model.h"

using namespace warplings::sim;

extern "C" {

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int from, int to) {
  return WARPLINGS_API_ALWAYS {
    if (value == nullptr) return cudaErrorInvalidValue;
    if (!is_device(from) || !is_device(to) || from == to) return cudaErrorInvalidDevice;
    switch (attribute) {
      case cudaDevP2PAttrPerformanceRank:
        *value = 0;  // the best link between two of the devices
        return cudaSuccess;
      case cudaDevP2PAttrAccessSupported:
      case cudaDevP2PAttrNativeAtomicSupported:
      case cudaDevP2PAttrCudaArrayAccessSupported:
        *value = 1;
        return cudaSuccess;
      default:
        return cudaErrorInvalidValue;
    }
  };
}

// "domain:bus:device.function" or without the domain or the function; hexadecimal.
cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* id) {
  return WARPLINGS_API_ALWAYS {
    if (device == nullptr || id == nullptr) return cudaErrorInvalidValue;
    unsigned domain = 0, bus = 0, slot = 0;
    if (std::sscanf(id, "%x:%x:%x", &domain, &bus, &slot) != 3) {
      domain = 0;
      if (std::sscanf(id, "%x:%x", &bus, &slot) != 2) return cudaErrorInvalidValue;
    }
    if (domain != 0 || slot != 0 || bus >= static_cast<unsigned>(device_count())) {
      return cudaErrorInvalidDevice;
    }
    *device = static_cast<int>(bus);
    return cudaSuccess;
  };
}

cudaError_t cudaSetValidDevices(int* devices, int count) {
  return WARPLINGS_API_ALWAYS {
    if (count < 0 || (count > 0 && devices == nullptr)) return cudaErrorInvalidValue;
    for (int i = 0; i < count; ++i) {
      if (!is_device(devices[i])) return cudaErrorInvalidDevice;
    }
    return cudaSuccess;  // an order of preference; device 0 is always usable
  };
}

}  // extern "C"
