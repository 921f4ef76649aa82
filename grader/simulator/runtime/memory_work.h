// Work that allocates and frees memory in the order of a stream.
#ifndef WARPLINGS_SIMULATOR_RUNTIME_MEMORY_WORK_H_
#define WARPLINGS_SIMULATOR_RUNTIME_MEMORY_WORK_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "memory/device_memory.h"
#include "runtime/copy.h"
#include "runtime/stream.h"

namespace warplings::sim {

// A finding that says why `pointer` could not be freed.
void report_bad_free(const ApiCall& call, const void* pointer, DeviceMemory::FreeResult result);

// cudaFree and its kin: frees at once, and keeps the books of pools and graphs. Reports a failure.
DeviceMemory::FreeResult free_now(const ApiCall& call, const void* pointer);

// Makes memory that was promised exist.
WorkItem allocate_work(void* pointer, const ApiCall& call);
// Frees when the stream gets there; a bad pointer is a finding of `call`.
WorkItem free_work(void* pointer, const ApiCall& call);

WorkItem host_work(cudaHostFn_t function, void* data, const ApiCall& call);
std::shared_ptr<Work> describe(WorkKind kind, const ApiCall& call);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_MEMORY_WORK_H_
