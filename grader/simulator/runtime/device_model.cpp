#include "runtime/device_model.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "memory/device_memory.h"

namespace warplings::sim {
namespace {

struct AttributeValue {
  cudaDeviceAttr attribute;
  int value;
};

// Features that the simulator does not have (clusters, memory pools with handles, sparse arrays)
// are 0 although the real device has them.
constexpr AttributeValue kAttributes[] = {
    {cudaDevAttrMaxThreadsPerBlock, DeviceModel::kMaxThreadsPerBlock},
    {cudaDevAttrMaxBlockDimX, 1024},
    {cudaDevAttrMaxBlockDimY, 1024},
    {cudaDevAttrMaxBlockDimZ, 64},
    {cudaDevAttrMaxGridDimX, 2147483647},
    {cudaDevAttrMaxGridDimY, 65535},
    {cudaDevAttrMaxGridDimZ, 65535},
    {cudaDevAttrMaxSharedMemoryPerBlock, static_cast<int>(DeviceModel::kSharedPerBlock)},
    {cudaDevAttrTotalConstantMemory, static_cast<int>(DeviceModel::kTotalConstant)},
    {cudaDevAttrWarpSize, DeviceModel::kWarpSize},
    {cudaDevAttrMaxPitch, 2147483647},
    {cudaDevAttrMaxRegistersPerBlock, DeviceModel::kRegistersPerBlock},
    {cudaDevAttrClockRate, 1980000},  // kHz
    {cudaDevAttrTextureAlignment, 512},
    {cudaDevAttrGpuOverlap, 1},
    {cudaDevAttrMultiProcessorCount, DeviceModel::kMultiprocessors},
    {cudaDevAttrKernelExecTimeout, 0},
    {cudaDevAttrIntegrated, 0},
    {cudaDevAttrCanMapHostMemory, 1},
    {cudaDevAttrComputeMode, cudaComputeModeDefault},
    {cudaDevAttrMaxTexture1DWidth, 131072},
    {cudaDevAttrMaxTexture2DWidth, 131072},
    {cudaDevAttrMaxTexture2DHeight, 65536},
    {cudaDevAttrMaxTexture3DWidth, 16384},
    {cudaDevAttrMaxTexture3DHeight, 16384},
    {cudaDevAttrMaxTexture3DDepth, 16384},
    {cudaDevAttrSurfaceAlignment, 512},
    {cudaDevAttrConcurrentKernels, 1},
    {cudaDevAttrEccEnabled, 1},
    {cudaDevAttrPciBusId, 0},
    {cudaDevAttrPciDeviceId, 0},
    {cudaDevAttrTccDriver, 0},
    {cudaDevAttrMemoryClockRate, 3201000},  // kHz
    {cudaDevAttrGlobalMemoryBusWidth, 6016},
    {cudaDevAttrL2CacheSize, 62914560},
    {cudaDevAttrMaxThreadsPerMultiProcessor, DeviceModel::kMaxThreadsPerMultiprocessor},
    {cudaDevAttrAsyncEngineCount, 3},
    {cudaDevAttrUnifiedAddressing, 1},
    {cudaDevAttrPciDomainId, 0},
    {cudaDevAttrTexturePitchAlignment, 32},
    {cudaDevAttrComputeCapabilityMajor, DeviceModel::kComputeMajor},
    {cudaDevAttrComputeCapabilityMinor, DeviceModel::kComputeMinor},
    {cudaDevAttrStreamPrioritiesSupported, 1},
    {cudaDevAttrGlobalL1CacheSupported, 1},
    {cudaDevAttrLocalL1CacheSupported, 1},
    {cudaDevAttrMaxSharedMemoryPerMultiprocessor,
     static_cast<int>(DeviceModel::kSharedPerMultiprocessor)},
    {cudaDevAttrMaxRegistersPerMultiprocessor, DeviceModel::kRegistersPerMultiprocessor},
    {cudaDevAttrManagedMemory, 1},
    {cudaDevAttrIsMultiGpuBoard, 0},
    {cudaDevAttrMultiGpuBoardGroupID, 0},
    {cudaDevAttrHostNativeAtomicSupported, 0},
    {cudaDevAttrSingleToDoublePrecisionPerfRatio, 2},
    {cudaDevAttrPageableMemoryAccess, 0},
    {cudaDevAttrConcurrentManagedAccess, 1},
    {cudaDevAttrComputePreemptionSupported, 1},
    {cudaDevAttrCanUseHostPointerForRegisteredMem, 0},
    {cudaDevAttrCooperativeLaunch, 1},
    {cudaDevAttrMaxSharedMemoryPerBlockOptin, static_cast<int>(DeviceModel::kSharedPerBlockOptIn)},
    {cudaDevAttrCanFlushRemoteWrites, 0},
    {cudaDevAttrHostRegisterSupported, 1},
    {cudaDevAttrPageableMemoryAccessUsesHostPageTables, 0},
    {cudaDevAttrDirectManagedMemAccessFromHost, 0},
    {cudaDevAttrMaxBlocksPerMultiprocessor, DeviceModel::kMaxBlocksPerMultiprocessor},
    {cudaDevAttrMaxPersistingL2CacheSize, 39321600},
    {cudaDevAttrMaxAccessPolicyWindowSize, 134217728},
    {cudaDevAttrReservedSharedMemoryPerBlock, static_cast<int>(DeviceModel::kSharedReserved)},
    {cudaDevAttrSparseCudaArraySupported, 0},
    {cudaDevAttrHostRegisterReadOnlySupported, 0},
    {cudaDevAttrTimelineSemaphoreInteropSupported, 0},
    {cudaDevAttrMemoryPoolsSupported, 1},
    {cudaDevAttrGPUDirectRDMASupported, 0},
    {cudaDevAttrClusterLaunch, 0},
    {cudaDevAttrIpcEventSupport, 0},
};

int value_of(cudaDeviceAttr attribute) {
  int value = 0;
  device_attribute(attribute, &value);
  return value;
}

void fill_limits(cudaDeviceProp* p) {
  p->sharedMemPerBlock = DeviceModel::kSharedPerBlock;
  p->sharedMemPerBlockOptin = DeviceModel::kSharedPerBlockOptIn;
  p->sharedMemPerMultiprocessor = DeviceModel::kSharedPerMultiprocessor;
  p->reservedSharedMemPerBlock = DeviceModel::kSharedReserved;
  p->regsPerBlock = DeviceModel::kRegistersPerBlock;
  p->regsPerMultiprocessor = DeviceModel::kRegistersPerMultiprocessor;
  p->warpSize = DeviceModel::kWarpSize;
  p->maxThreadsPerBlock = DeviceModel::kMaxThreadsPerBlock;
  p->maxThreadsPerMultiProcessor = DeviceModel::kMaxThreadsPerMultiprocessor;
  p->maxBlocksPerMultiProcessor = DeviceModel::kMaxBlocksPerMultiprocessor;
  for (int i = 0; i < 3; ++i) {
    p->maxThreadsDim[i] = static_cast<int>(DeviceModel::kMaxBlock[i]);
    p->maxGridSize[i] = static_cast<int>(DeviceModel::kMaxGrid[i]);
  }
  p->totalConstMem = DeviceModel::kTotalConstant;
  p->multiProcessorCount = DeviceModel::kMultiprocessors;
  p->memPitch = 2147483647;
  p->textureAlignment = 512;
  p->texturePitchAlignment = 32;
  p->surfaceAlignment = 512;
  p->maxTexture1D = value_of(cudaDevAttrMaxTexture1DWidth);
  p->maxTexture2D[0] = value_of(cudaDevAttrMaxTexture2DWidth);
  p->maxTexture2D[1] = value_of(cudaDevAttrMaxTexture2DHeight);
  p->maxTexture3D[0] = p->maxTexture3D[1] = p->maxTexture3D[2] = 16384;
}

int round_up(int value, int unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

int device_count() {
  static const int count = [] {
    const char* text = std::getenv("GRADE_SIM_DEVICES");
    return text == nullptr ? 1 : std::clamp(std::atoi(text), 1, 16);
  }();
  return count;
}

bool device_attribute(cudaDeviceAttr attribute, int* value) {
  for (const AttributeValue& row : kAttributes) {
    if (row.attribute != attribute) continue;
    *value = row.value;
    return true;
  }
  *value = 0;
  return attribute > 0 && attribute < cudaDevAttrMax;
}

void fill_properties(int device, cudaDeviceProp* p) {
  std::memset(p, 0, sizeof *p);
  std::snprintf(p->name, sizeof p->name, "Warplings simulator (models an H200)");
  p->uuid.bytes[15] = static_cast<char>(device);
  p->totalGlobalMem = DeviceMemory::instance().bytes_total();
  p->major = DeviceModel::kComputeMajor;
  p->minor = DeviceModel::kComputeMinor;
  fill_limits(p);
  p->canMapHostMemory = 1;
  p->concurrentKernels = 1;
  p->ECCEnabled = 1;
  p->pciBusID = device;
  p->asyncEngineCount = 3;
  p->unifiedAddressing = 1;
  p->memoryBusWidth = value_of(cudaDevAttrGlobalMemoryBusWidth);
  p->l2CacheSize = value_of(cudaDevAttrL2CacheSize);
  p->persistingL2CacheMaxSize = value_of(cudaDevAttrMaxPersistingL2CacheSize);
  p->accessPolicyMaxWindowSize = value_of(cudaDevAttrMaxAccessPolicyWindowSize);
  p->streamPrioritiesSupported = 1;
  p->globalL1CacheSupported = 1;
  p->localL1CacheSupported = 1;
  p->managedMemory = 1;
  p->concurrentManagedAccess = 1;
  p->computePreemptionSupported = 1;
  p->cooperativeLaunch = 1;
  p->hostRegisterSupported = 1;
  p->memoryPoolsSupported = 1;
  p->deviceNumaId = -1;
}

int resident_blocks(int threads, int registers_per_thread, size_t shared_bytes) {
  if (threads > DeviceModel::kMaxThreadsPerBlock ||
      shared_bytes > DeviceModel::kSharedPerBlockOptIn) {
    return 0;
  }
  const int warps = (threads + DeviceModel::kWarpSize - 1) / DeviceModel::kWarpSize;
  int blocks = std::min(DeviceModel::kMaxBlocksPerMultiprocessor,
                        DeviceModel::kMaxThreadsPerMultiprocessor / DeviceModel::kWarpSize / warps);
  const int per_warp = round_up(std::max(registers_per_thread, 1) * DeviceModel::kWarpSize,
                                DeviceModel::kRegisterUnit);
  blocks = std::min(blocks, DeviceModel::kRegistersPerMultiprocessor / per_warp / warps);
  const size_t shared = shared_bytes + DeviceModel::kSharedReserved;
  return std::min(blocks, static_cast<int>(DeviceModel::kSharedPerMultiprocessor / shared));
}

}  // namespace warplings::sim
