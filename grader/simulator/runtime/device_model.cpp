#include "runtime/device_model.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/machine.h"
#include "memory/device_memory.h"
#include "runtime/device_state.h"

namespace warplings::sim {
namespace {

struct AttributeValue {
  cudaDeviceAttr attribute;
  int value;
};

// Features that the simulator does not have (memory pools with handles, sparse arrays)
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
    {cudaDevAttrTextureAlignment, DeviceModel::kTextureAlignment},
    {cudaDevAttrGpuOverlap, 1},
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
    {cudaDevAttrPciBusId, 0},
    {cudaDevAttrPciDeviceId, 0},
    {cudaDevAttrTccDriver, 0},
    {cudaDevAttrAsyncEngineCount, 3},
    {cudaDevAttrUnifiedAddressing, 1},
    {cudaDevAttrPciDomainId, 0},
    {cudaDevAttrTexturePitchAlignment, DeviceModel::kTexturePitchAlignment},
    {cudaDevAttrStreamPrioritiesSupported, 1},
    {cudaDevAttrGlobalL1CacheSupported, 1},
    {cudaDevAttrLocalL1CacheSupported, 1},
    {cudaDevAttrManagedMemory, 1},
    {cudaDevAttrIsMultiGpuBoard, 0},
    {cudaDevAttrMultiGpuBoardGroupID, 0},
    {cudaDevAttrHostNativeAtomicSupported, 0},
    {cudaDevAttrPageableMemoryAccess, 0},
    {cudaDevAttrComputePreemptionSupported, 1},
    {cudaDevAttrCanUseHostPointerForRegisteredMem, 0},
    {cudaDevAttrCooperativeLaunch, 1},
    {cudaDevAttrCanFlushRemoteWrites, 0},
    {cudaDevAttrHostRegisterSupported, 1},
    {cudaDevAttrPageableMemoryAccessUsesHostPageTables, 0},
    {cudaDevAttrDirectManagedMemAccessFromHost, 0},
    {cudaDevAttrMaxAccessPolicyWindowSize, 134217728},
    {cudaDevAttrSparseCudaArraySupported, 0},
    {cudaDevAttrHostRegisterReadOnlySupported, 0},
    {cudaDevAttrTimelineSemaphoreInteropSupported, 0},
    {cudaDevAttrMemoryPoolsSupported, 1},
    {cudaDevAttrGPUDirectRDMASupported, 0},
    {cudaDevAttrIpcEventSupport, 0},
};

// Those that differ between the cards. False if the attribute is not one of them.
bool model_attribute(cudaDeviceAttr attribute, int device, int* value) {
  const GpuModel& model = gpu_model_of(device);
  switch (attribute) {
    case cudaDevAttrMaxRegistersPerBlock:
      *value = model.registers;
      return true;
    case cudaDevAttrClockRate:
      *value = static_cast<int>(model.clock_hz / 1e3);  // kHz
      return true;
    case cudaDevAttrMultiProcessorCount:
      *value = model.multiprocessors;
      return true;
    case cudaDevAttrClusterLaunch:
      *value = model.compute_major >= 9 ? 1 : 0;
      return true;
    case cudaDevAttrEccEnabled:
      *value = model.ecc ? 1 : 0;
      return true;
    case cudaDevAttrMemoryClockRate:
      *value = static_cast<int>(model.memory_clock_hz / 1e3);  // kHz
      return true;
    case cudaDevAttrGlobalMemoryBusWidth:
      *value = model.memory_bus_bits;
      return true;
    case cudaDevAttrL2CacheSize:
      *value = static_cast<int>(model.l2_bytes);
      return true;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      *value = model.max_threads;
      return true;
    case cudaDevAttrComputeCapabilityMajor:
      *value = model.compute_major;
      return true;
    case cudaDevAttrComputeCapabilityMinor:
      *value = model.compute_minor;
      return true;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      *value = static_cast<int>(model.shared_per_multiprocessor);
      return true;
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      *value = model.registers;
      return true;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio:
      *value = model.fp32_to_fp64;
      return true;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = static_cast<int>(model.shared_per_block_opt_in);
      return true;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      *value = model.max_blocks;
      return true;
    case cudaDevAttrMaxPersistingL2CacheSize:
      *value = static_cast<int>(model.persisting_l2_bytes);
      return true;
    case cudaDevAttrConcurrentManagedAccess:
      *value = model.moves_managed_whole ? 0 : 1;
      return true;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      *value = static_cast<int>(model.shared_reserved);
      return true;
    default:
      return false;
  }
}

int value_of(cudaDeviceAttr attribute, int device) {
  int value = 0;
  device_attribute(attribute, device, &value);
  return value;
}

void fill_limits(int device, cudaDeviceProp* p) {
  const GpuModel& model = gpu_model_of(device);
  p->sharedMemPerBlock = DeviceModel::kSharedPerBlock;
  p->sharedMemPerBlockOptin = model.shared_per_block_opt_in;
  p->sharedMemPerMultiprocessor = model.shared_per_multiprocessor;
  p->reservedSharedMemPerBlock = model.shared_reserved;
  p->regsPerBlock = model.registers;
  p->regsPerMultiprocessor = model.registers;
  p->warpSize = DeviceModel::kWarpSize;
  p->maxThreadsPerBlock = DeviceModel::kMaxThreadsPerBlock;
  p->maxThreadsPerMultiProcessor = model.max_threads;
  p->maxBlocksPerMultiProcessor = model.max_blocks;
  for (int i = 0; i < 3; ++i) {
    p->maxThreadsDim[i] = static_cast<int>(DeviceModel::kMaxBlock[i]);
    p->maxGridSize[i] = static_cast<int>(DeviceModel::kMaxGrid[i]);
  }
  p->totalConstMem = DeviceModel::kTotalConstant;
  p->multiProcessorCount = model.multiprocessors;
  p->memPitch = 2147483647;
  p->textureAlignment = DeviceModel::kTextureAlignment;
  p->texturePitchAlignment = DeviceModel::kTexturePitchAlignment;
  p->surfaceAlignment = 512;
  p->maxTexture1D = value_of(cudaDevAttrMaxTexture1DWidth, device);
  p->maxTexture2D[0] = value_of(cudaDevAttrMaxTexture2DWidth, device);
  p->maxTexture2D[1] = value_of(cudaDevAttrMaxTexture2DHeight, device);
  p->maxTexture3D[0] = p->maxTexture3D[1] = p->maxTexture3D[2] = 16384;
}

}  // namespace

int device_count() { return Machine::current().options().devices; }

bool device_attribute(cudaDeviceAttr attribute, int device, int* value) {
  if (model_attribute(attribute, device, value)) return true;
  for (const AttributeValue& row : kAttributes) {
    if (row.attribute != attribute) continue;
    *value = row.value;
    return true;
  }
  *value = 0;
  return attribute > 0 && attribute < cudaDevAttrMax;
}

void fill_properties(int device, cudaDeviceProp* p) {
  const GpuModel& model = gpu_model_of(device);
  std::memset(p, 0, sizeof *p);
  std::snprintf(p->name, sizeof p->name, "%s", model.device_name);
  p->uuid.bytes[15] = static_cast<char>(device);
  p->totalGlobalMem = DeviceMemory::instance().bytes_total();
  p->major = model.compute_major;
  p->minor = model.compute_minor;
  fill_limits(device, p);
  p->canMapHostMemory = 1;
  p->concurrentKernels = 1;
  p->ECCEnabled = model.ecc ? 1 : 0;
  p->pciBusID = device;
  p->asyncEngineCount = 3;
  p->unifiedAddressing = 1;
  p->memoryBusWidth = value_of(cudaDevAttrGlobalMemoryBusWidth, device);
  p->l2CacheSize = value_of(cudaDevAttrL2CacheSize, device);
  p->persistingL2CacheMaxSize = value_of(cudaDevAttrMaxPersistingL2CacheSize, device);
  p->accessPolicyMaxWindowSize = value_of(cudaDevAttrMaxAccessPolicyWindowSize, device);
  p->streamPrioritiesSupported = 1;
  p->globalL1CacheSupported = 1;
  p->localL1CacheSupported = 1;
  p->managedMemory = 1;
  p->concurrentManagedAccess = model.moves_managed_whole ? 0 : 1;
  p->computePreemptionSupported = 1;
  p->cooperativeLaunch = 1;
  p->clusterLaunch = model.compute_major >= 9 ? 1 : 0;
  p->hostRegisterSupported = 1;
  p->memoryPoolsSupported = 1;
  p->deviceNumaId = -1;
}

int resident_blocks(int threads, int registers_per_thread, size_t shared_bytes) {
  return occupancy_of(gpu_model_of(current_device()), threads, registers_per_thread, shared_bytes)
      .blocks;
}

}  // namespace warplings::sim
