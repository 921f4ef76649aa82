// Devices, limits, errors and versions of the CUDA runtime API.
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>

#include <cstdio>
#include <map>

#include "checks/stream_order.h"
#include "core/error_names.h"
#include "core/machine.h"
#include "memory/device_memory.h"
#include "profile/timeline.h"
#include "runtime/api.h"
#include "runtime/device_model.h"
#include "runtime/device_state.h"
#include "runtime/error_state.h"
#include "runtime/graph.h"
#include "runtime/holdings.h"
#include "runtime/launch_refusal.h"
#include "runtime/memory_pool.h"
#include "runtime/registered_memory.h"
#include "runtime/registry.h"
#include "runtime/stream.h"

using namespace warplings::sim;

namespace {

void note_limit(int limit, size_t value) {
  static const char kDevices = 0;  // they are of no object that the program knows
  Holdings::instance().set_mode("device limit " + std::to_string(limit), &kDevices,
                                static_cast<int64_t>(value));
}

// As an H200 reports them at start.
std::map<cudaLimit, size_t>& limits() {
  struct Limits {
    std::map<cudaLimit, size_t> values{
        {cudaLimitStackSize, 1024},           {cudaLimitPrintfFifoSize, 8650752},
        {cudaLimitMallocHeapSize, 8388608},   {cudaLimitDevRuntimePendingLaunchCount, 2048},
        {cudaLimitMaxL2FetchGranularity, 64}, {cudaLimitPersistingL2CacheSize, 11796480},
    };
    Limits() {
      for (const auto& [limit, value] : values) note_limit(limit, value);
    }
  };
  return Machine::get<Limits>().values;
}

}  // namespace

void warplings::sim::note_limits() { limits(); }

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  return WARPLINGS_API_ALWAYS {
    if (count == nullptr) return cudaErrorInvalidValue;
    *count = device_count();
    return cudaSuccess;
  };
}

cudaError_t cudaGetDevice(int* device) {
  return WARPLINGS_API_ALWAYS {
    if (device == nullptr) return cudaErrorInvalidValue;
    *device = current_device();
    return cudaSuccess;
  };
}

cudaError_t cudaSetDevice(int device) {
  return WARPLINGS_API_ALWAYS {
    if (!is_device(device)) return cudaErrorInvalidDevice;
    current_device() = device;
    return cudaSuccess;
  };
}

cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  return WARPLINGS_API_ALWAYS { return is_device(device) ? cudaSuccess : cudaErrorInvalidDevice; };
}

cudaError_t cudaSetDeviceFlags(unsigned) {
  return WARPLINGS_API_ALWAYS { return cudaSuccess; };
}

cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return WARPLINGS_API_ALWAYS {
    *flags = cudaDeviceMapHost;
    return cudaSuccess;
  };
}

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*) {
  return WARPLINGS_API_ALWAYS {
    *device = 0;
    return cudaSuccess;
  };
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return WARPLINGS_API_ALWAYS {
    if (properties == nullptr) return cudaErrorInvalidValue;
    if (!is_device(device)) return cudaErrorInvalidDevice;
    fill_properties(device, properties);
    return cudaSuccess;
  };
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return WARPLINGS_API_ALWAYS {
    if (!is_device(device)) return cudaErrorInvalidDevice;
    int found = 0;
    if (value == nullptr || !device_attribute(attribute, device, &found))
      return cudaErrorInvalidValue;
    *value = found;
    return cudaSuccess;
  };
}

cudaError_t cudaDeviceGetPCIBusId(char* id, int size, int device) {
  return WARPLINGS_API_ALWAYS {
    if (!is_device(device)) return cudaErrorInvalidDevice;
    std::snprintf(id, static_cast<size_t>(size), "0000:%02X:00.0", static_cast<unsigned>(device));
    return cudaSuccess;
  };
}

cudaError_t cudaDeviceSynchronize() {
  return WARPLINGS_API { return Streams::instance().synchronize_device(current_device()); };
}

// On a GPU a process whose kernel faulted cannot go on after this either; the simulator can, so
// that a test program survives a test that faults.
cudaError_t cudaDeviceReset() {
  return WARPLINGS_API_ALWAYS {
    const int device = current_device();
    Streams::instance().synchronize_device(device);
    Streams::instance().drop_pending(device);
    StreamOrder::instance().reset();
    MemoryPools::instance().reset(device);
    Timeline::instance().forget_pending();
    RegisteredMemory::instance().unmap_all();
    DeviceMemory::instance().reset(device);
    graph_memory(device) = {};
    reset_peer_access(device);
    Registry::instance().restore_variables(device);
    clear_sticky_error(device);
    return cudaSuccess;
  };
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  return WARPLINGS_API {
    const auto found = limits().find(limit);
    if (value == nullptr) return cudaErrorInvalidValue;
    if (found == limits().end()) return cudaErrorUnsupportedLimit;
    *value = found->second;
    return cudaSuccess;
  };
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return WARPLINGS_API {
    const auto found = limits().find(limit);
    if (found == limits().end()) {
      return limit == cudaLimitDevRuntimeSyncDepth ? cudaErrorUnsupportedLimit
                                                   : cudaErrorInvalidValue;
    }
    found->second = value;
    note_limit(limit, value);
    return cudaSuccess;
  };
}

// Preferences: the simulator has no cache that they could change.
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) {
  return WARPLINGS_API { return cudaSuccess; };
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  return WARPLINGS_API {
    *config = cudaFuncCachePreferNone;
    return cudaSuccess;
  };
}

cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) {
  return WARPLINGS_API { return cudaSuccess; };
}

cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  return WARPLINGS_API {
    *config = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
  };
}

cudaError_t cudaCtxResetPersistingL2Cache() {
  return WARPLINGS_API { return cudaSuccess; };
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return WARPLINGS_API_ALWAYS {
    if (!is_device(device) || !is_device(peer)) return cudaErrorInvalidDevice;
    *can = device != peer && can_reach(device, peer) ? 1 : 0;
    return cudaSuccess;
  };
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return WARPLINGS_API {
    if (!is_device(peer) || peer == current_device()) return cudaErrorInvalidDevice;
    if (flags != 0) return cudaErrorInvalidValue;
    if (!can_reach(current_device(), peer)) return cudaErrorPeerAccessUnsupported;
    return enable_peer_access(current_device(), peer) ? cudaSuccess
                                                      : cudaErrorPeerAccessAlreadyEnabled;
  };
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return WARPLINGS_API {
    if (!is_device(peer)) return cudaErrorInvalidDevice;
    return disable_peer_access(current_device(), peer) ? cudaSuccess
                                                       : cudaErrorPeerAccessNotEnabled;
  };
}

cudaError_t cudaProfilerStart() {
  return WARPLINGS_API_ALWAYS { return cudaSuccess; };
}

cudaError_t cudaProfilerStop() {
  return WARPLINGS_API_ALWAYS { return cudaSuccess; };
}

cudaError_t cudaDriverGetVersion(int* version) {
  return WARPLINGS_API_ALWAYS {
    *version = DeviceModel::kVersion;
    return cudaSuccess;
  };
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  return WARPLINGS_API_ALWAYS {
    *version = DeviceModel::kVersion;
    return cudaSuccess;
  };
}

cudaError_t cudaGetLastError() {
  const cudaError_t error = last_error();
  last_error() = cudaSuccess;
  if (error != cudaSuccess) launch_error_was_seen();
  return error;
}

cudaError_t cudaPeekAtLastError() {
  if (last_error() != cudaSuccess) launch_error_was_seen();
  return last_error();
}

const char* cudaGetErrorName(cudaError_t error) { return error_name(error); }

const char* cudaGetErrorString(cudaError_t error) { return error_text(error); }

}  // extern "C"
