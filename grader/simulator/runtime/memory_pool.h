// Memory pools: allocation and release in the order of streams.
//
// A pool never hands out the same addresses twice, so that a pointer which outlives its memory is
// recognised. What it holds is counted as if it reused memory.
#ifndef WARPLINGS_SIMULATOR_RUNTIME_MEMORY_POOL_H_
#define WARPLINGS_SIMULATOR_RUNTIME_MEMORY_POOL_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>

#include "runtime/api.h"
#include "runtime/stream.h"

struct CUmemPoolHandle_st {
  int device = 0;
  uint32_t access = 1;    // one bit for each device whose kernels may use its memory
  uint64_t max_size = 0;  // bytes; 0: no limit of its own
  bool is_default = false;
  bool destroyed = false;          // lives on until its last allocation is freed
  uint64_t live = 0;               // allocations
  uint64_t release_threshold = 0;  // bytes that stay reserved at a synchronisation
  int reuse_follow_event = 1, reuse_opportunistic = 1, reuse_internal = 1;
  uint64_t used = 0, used_high = 0, reserved = 0, reserved_high = 0;  // bytes
};

namespace warplings::sim {

using MemoryPool = CUmemPoolHandle_st;

class MemoryPools {
 public:
  static MemoryPools& instance();

  MemoryPool* default_of(int device);
  MemoryPool* current_of(int device);
  void set_current(int device, MemoryPool* pool);
  MemoryPool* create(const cudaMemPoolProps& properties);
  bool destroy(MemoryPool* pool);
  // nullptr if the handle is no pool.
  MemoryPool* find(cudaMemPool_t handle);

  // The address of `size` bytes that exist once `stream` gets there.
  cudaError_t allocate(const ApiCall& call, MemoryPool* pool, size_t size,
                       const std::shared_ptr<StreamState>& stream, void** pointer);
  // An allocation of a pool was freed; of anything else: nothing happens.
  void freed(uint64_t address, uint64_t size);
  void set_access(MemoryPool* pool, uint32_t devices);
  void trim(MemoryPool* pool, uint64_t keep);
  void reset(int device);  // cudaDeviceReset
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_MEMORY_POOL_H_
