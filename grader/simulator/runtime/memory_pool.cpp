#include "runtime/memory_pool.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

#include "core/machine.h"
#include "memory/device_memory.h"
#include "runtime/memory_work.h"
#include "runtime/pointer.h"

namespace warplings::sim {
namespace {

struct State {
  std::array<MemoryPool*, kMaxDevices> defaults{}, current{};
  std::set<MemoryPool*> pools;
  std::map<uint64_t, MemoryPool*> owners;  // by address of the allocation
};

State& state() { return Machine::get<State>(); }

void forget(MemoryPool* pool) {
  state().pools.erase(pool);
  delete pool;
}

}  // namespace

MemoryPools& MemoryPools::instance() { return Machine::get<MemoryPools>(); }

MemoryPool* MemoryPools::default_of(int device) {
  MemoryPool*& pool = state().defaults[static_cast<size_t>(device)];
  if (pool == nullptr) {
    pool = new MemoryPool{};
    pool->device = device;
    pool->access = 1u << device;
    pool->is_default = true;
    state().pools.insert(pool);
  }
  return pool;
}

MemoryPool* MemoryPools::current_of(int device) {
  MemoryPool* pool = state().current[static_cast<size_t>(device)];
  return pool == nullptr ? default_of(device) : pool;
}

void MemoryPools::set_current(int device, MemoryPool* pool) {
  state().current[static_cast<size_t>(device)] = pool;
}

MemoryPool* MemoryPools::create(const cudaMemPoolProps& properties) {
  auto* const pool = new MemoryPool{};
  pool->device = properties.location.id;
  pool->access = 1u << pool->device;
  pool->max_size = properties.maxSize;
  state().pools.insert(pool);
  return pool;
}

bool MemoryPools::destroy(MemoryPool* pool) {
  if (pool->is_default) return false;
  pool->destroyed = true;
  for (MemoryPool*& current : state().current) {
    if (current == pool) current = nullptr;
  }
  if (pool->live == 0) forget(pool);
  return true;
}

MemoryPool* MemoryPools::find(cudaMemPool_t handle) {
  return state().pools.contains(handle) && !handle->destroyed ? handle : nullptr;
}

cudaError_t MemoryPools::allocate(const ApiCall& call, MemoryPool* pool, size_t size,
                                  const std::shared_ptr<StreamState>& stream, void** pointer) {
  if (pool->max_size != 0 && pool->used + size > pool->max_size) return cudaErrorMemoryAllocation;
  DeviceMemory& memory = DeviceMemory::instance();
  uint64_t address = memory.allocate(size, AllocationKind::kDevice, "", pool->device);
  if (address == 0) {
    // Memory that other streams free soon would do: wait for them.
    Streams::instance().run_all();
    address = memory.allocate(size, AllocationKind::kDevice, "", pool->device);
  }
  if (address == 0) return cudaErrorMemoryAllocation;
  const Position where = call.where();
  if (where.known()) memory.set_allocated_at(address, where.short_name());
  memory.set_access(address, pool->access);
  memory.promise(address);
  state().owners[address] = pool;
  ++pool->live;
  pool->used += size;
  pool->used_high = std::max(pool->used_high, pool->used);
  pool->reserved = std::max(pool->reserved, pool->used);
  pool->reserved_high = std::max(pool->reserved_high, pool->reserved);
  *pointer = reinterpret_cast<void*>(address);
  Streams::instance().enqueue(stream, allocate_work(*pointer, call));
  return cudaSuccess;
}

void MemoryPools::freed(uint64_t address, uint64_t size) {
  const auto found = state().owners.find(address);
  if (found == state().owners.end()) return;
  MemoryPool* pool = found->second;
  state().owners.erase(found);
  DeviceMemory::instance().abandon(address);
  pool->used -= size;
  if (--pool->live == 0 && pool->destroyed) {
    forget(pool);
    return;
  }
  trim(pool, pool->release_threshold);
}

void MemoryPools::set_access(MemoryPool* pool, uint32_t devices) {
  pool->access = devices;
  for (const auto& [address, owner] : state().owners) {
    if (owner == pool) DeviceMemory::instance().set_access(address, devices);
  }
}

void MemoryPools::trim(MemoryPool* pool, uint64_t keep) {
  pool->reserved = std::max(pool->used, std::min(pool->reserved, keep));
}

void MemoryPools::reset(int device) {
  std::erase_if(state().owners,
                [device](const auto& entry) { return entry.second->device == device; });
  const std::vector<MemoryPool*> all(state().pools.begin(), state().pools.end());
  for (MemoryPool* pool : all) {
    if (pool->device == device) forget(pool);
  }
  state().defaults[static_cast<size_t>(device)] = nullptr;
  state().current[static_cast<size_t>(device)] = nullptr;
}

}  // namespace warplings::sim
