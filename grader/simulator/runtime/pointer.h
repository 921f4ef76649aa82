// What kind of memory a pointer of the program refers to, and whether a range of it may be used.
#ifndef WARPLINGS_SIMULATOR_RUNTIME_POINTER_H_
#define WARPLINGS_SIMULATOR_RUNTIME_POINTER_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "memory/device_memory.h"
#include "runtime/api.h"

namespace warplings::sim {

enum class MemoryKind {
  kPageable,    // ordinary host memory
  kRegistered,  // host memory that cudaHostRegister pinned
  kPinned,      // cudaMallocHost, cudaHostAlloc
  kManaged,
  kDevice,
};

MemoryKind memory_kind(const void* pointer);
inline bool device_can_use(MemoryKind kind) { return kind >= MemoryKind::kPinned; }
inline bool host_can_use(MemoryKind kind) { return kind <= MemoryKind::kManaged; }

inline bool device_holds(MemoryKind kind) { return kind >= MemoryKind::kManaged; }

inline uint64_t address_of(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

// Where the simulator itself reads and writes the bytes.
inline void* usable(void* pointer) {
  const DeviceMemory& memory = DeviceMemory::instance();
  return memory.in_arena(address_of(pointer)) ? memory.view(address_of(pointer)) : pointer;
}
inline const void* usable(const void* pointer) { return usable(const_cast<void*>(pointer)); }

// "`c` (8192 bytes, allocated at add.cu:12)".
std::string describe(const Allocation& allocation);

// Reports a finding and returns cudaErrorInvalidValue unless [pointer, pointer + size) is memory
// that the call may use: host memory (unless `needs_device`), or inside one allocation that is live
// or that a stream will make. `role`
// is how the message calls the argument: "destination", "source".
cudaError_t check_range(const ApiCall& call, const char* role, const void* pointer, size_t size,
                        bool needs_device);

// For work that runs later than its call: false, with a finding, if the device memory was freed in
// the meantime, or is not allocated yet in the order of the streams.
bool still_there(const ApiCall& call, const char* role, const void* pointer, size_t size);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_POINTER_H_
