#include "runtime/memory_work.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "runtime/graph.h"
#include "runtime/memory_pool.h"
#include "runtime/pointer.h"

namespace warplings::sim {

void report_bad_free(const ApiCall& call, const void* pointer, DeviceMemory::FreeResult result) {
  const Allocation* allocation = DeviceMemory::instance().allocation_at(address_of(pointer));
  switch (result) {
    case DeviceMemory::FreeResult::kDoubleFree:
      call.report("memcheck", "double-free",
                  call.description() + " frees " + describe(*allocation) +
                      ", which has been freed before. Free each allocation once.");
      break;
    case DeviceMemory::FreeResult::kInterior:
      call.report("memcheck", "free-of-interior",
                  call.description() + " was given a pointer " +
                      std::to_string(address_of(pointer) - allocation->start) + " bytes into " +
                      describe(*allocation) + ". Pass the pointer that the allocation returned.");
      break;
    default:
      call.report("memcheck", "free-of-other-memory",
                  call.description() +
                      " was given a pointer that cudaMalloc did not return. Host memory is "
                      "released with what allocated it (delete, free, cudaFreeHost).");
  }
}

DeviceMemory::FreeResult free_now(const ApiCall& call, const void* pointer) {
  DeviceMemory& memory = DeviceMemory::instance();
  const uint64_t address = address_of(pointer);
  const Allocation* allocation = memory.allocation_at(address);
  const auto result = memory.free(address);
  if (result != DeviceMemory::FreeResult::kOk) {
    report_bad_free(call, pointer, result);
    return result;
  }
  const Position where = call.where();
  if (where.known()) memory.set_freed_at(address, where.short_name());
  graph_memory_freed(address, allocation->size, allocation->device);
  MemoryPools::instance().freed(address, allocation->size);
  return result;
}

std::shared_ptr<Work> describe(WorkKind kind, const ApiCall& call) {
  auto work = std::make_shared<Work>();
  work->kind = kind;
  work->name = call.name();
  work->where = call.where();
  return work;
}

WorkItem allocate_work(void* pointer, const ApiCall& call) {
  WorkItem item;
  item.about = describe(WorkKind::kAllocate, call);
  if (const Allocation* allocation = DeviceMemory::instance().allocation_at(address_of(pointer))) {
    item.about->ranges.push_back({allocation->start, allocation->size, true});
  }
  item.run = [pointer] {
    DeviceMemory::instance().fulfil(address_of(pointer));
    return cudaSuccess;
  };
  return item;
}

WorkItem free_work(void* pointer, const ApiCall& call) {
  WorkItem item;
  item.about = describe(WorkKind::kFree, call);
  if (const Allocation* allocation = DeviceMemory::instance().allocation_at(address_of(pointer))) {
    item.about->ranges.push_back({allocation->start, allocation->size, true});
  }
  item.run = [pointer, call] {
    free_now(call, pointer);
    return cudaSuccess;
  };
  return item;
}

WorkItem host_work(cudaHostFn_t function, void* data, const ApiCall& call) {
  WorkItem item;
  item.about = describe(WorkKind::kHostFunction, call);
  item.run = [function, data] {
    function(data);
    return cudaSuccess;
  };
  return item;
}

}  // namespace warplings::sim
