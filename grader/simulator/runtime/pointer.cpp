#include "runtime/pointer.h"

#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "memory/payload.h"
#include "runtime/registered_memory.h"

namespace warplings::sim {
namespace {

std::string hexadecimal(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%" PRIx64, value);
  return text;
}

std::string bytes(uint64_t count) {
  return std::to_string(count) + (count == 1 ? " byte" : " bytes");
}

// A function of CUDA itself; others are those of libraries, which count in elements.
bool is_of_runtime(const ApiCall& call) { return std::strncmp(call.name(), "cuda", 4) == 0; }

cudaError_t refuse(const ApiCall& call, const char* kind, const std::string& message) {
  call.report("memcheck", kind, message);
  return cudaErrorInvalidValue;
}

cudaError_t refuse_host_pointer(const ApiCall& call, const char* role, uint64_t address) {
  const std::string what =
      address == 0 ? "a null pointer" : "a host pointer (" + hexadecimal(address) + ")";
  return refuse(
      call, address == 0 ? "null-pointer" : "host-pointer",
      call.description() + " was given " + what + " as its " + role +
          ", which must be device memory. Nothing was done. Pass a pointer that cudaMalloc "
          "returned" +
          (is_of_runtime(call) ? "; if this is a copy, check the order (destination, source) and "
                                 "its direction."
                               : "."));
}

cudaError_t refuse_outside(const ApiCall& call, const char* role, uint64_t address, uint64_t size) {
  const DeviceMemory& memory = DeviceMemory::instance();
  const Allocation* allocation = memory.allocation_at(address);
  const std::string start = call.description() + " was given as its " + role + " " + bytes(size);
  if (allocation == nullptr) {
    return refuse(call, "wild-pointer",
                  start + " at " + hexadecimal(address) +
                      ", which belongs to no allocation. Nothing was done. Check the arithmetic "
                      "that made this pointer.");
  }
  if (allocation->state == AllocationState::kFreed) {
    return refuse(call, "use-after-free",
                  start + " of " + describe(*allocation) + ", which has been freed" +
                      (allocation->freed_at.empty() ? "" : " at " + allocation->freed_at) +
                      ". Nothing was done. Move the free behind the last use.");
  }
  const auto [low, high] = payload(*allocation);
  if (address < low) {
    return refuse(call, "out-of-bounds-copy",
                  start + " that begin " + bytes(low - address) + " before the start of " +
                      describe(*allocation) +
                      ". Nothing was done. Check the arithmetic that made "
                      "this pointer.");
  }
  const uint64_t offset = address - low;
  if (address + size <= high) {
    return refuse(call, "out-of-bounds-copy",
                  start + " that reach beyond the data of " + describe(*allocation) +
                      ". Nothing was done. Check the number of elements.");
  }
  const std::string from = offset == 0 ? "" : " from byte " + std::to_string(offset) + " on";
  return refuse(call, "out-of-bounds-copy",
                start + from + " of " + describe(*allocation) + ": " +
                    bytes(address + size - high) + " too many. Nothing was done. " +
                    (is_of_runtime(call)
                         ? "Sizes are in bytes: is this one n * sizeof(element), with the n of the "
                           "allocation?"
                         : "Do the sizes, leading dimensions, strides and batches of the call fit "
                           "the allocation?"));
}

}  // namespace

MemoryKind memory_kind(const void* pointer) {
  const DeviceMemory& memory = DeviceMemory::instance();
  const uint64_t address = address_of(pointer);
  if (!memory.in_arena(address)) {
    return RegisteredMemory::instance().covers(address) ? MemoryKind::kRegistered
                                                        : MemoryKind::kPageable;
  }
  const Allocation* allocation = memory.allocation_at(address);
  if (allocation != nullptr && allocation->kind == AllocationKind::kManaged) {
    return MemoryKind::kManaged;
  }
  if (allocation != nullptr && allocation->kind == AllocationKind::kHostPinned) {
    return MemoryKind::kPinned;
  }
  return MemoryKind::kDevice;
}

std::string describe(const Allocation& allocation) {
  std::string text = allocation.name.empty() ? "an allocation" : "`" + allocation.name + "`";
  const auto [low, high] = payload(allocation);
  text += " (" + bytes(high - low);
  // Red zones are the test's: where it allocates helps nobody.
  if (!allocation.has_red_zones && !allocation.allocated_at.empty()) {
    text += ", allocated at " + allocation.allocated_at;
  }
  return text + ")";
}

cudaError_t check_range(const ApiCall& call, const char* role, const void* pointer, size_t size,
                        bool needs_device) {
  if (size == 0) return cudaSuccess;
  const DeviceMemory& memory = DeviceMemory::instance();
  const uint64_t address = address_of(pointer);
  if (!memory.in_arena(address)) {
    if (needs_device) return refuse_host_pointer(call, role, address);
    if (address != 0) return cudaSuccess;
    return refuse(
        call, "null-pointer",
        call.description() + " was given a null pointer as its " + role + ". Nothing was done.");
  }
  if (memory.accessible(address, size)) return cudaSuccess;
  const Allocation* allocation = memory.allocation_at(address);
  if (allocation != nullptr && allocation->state == AllocationState::kPromised &&
      memory.is_promised_or_live(address, size)) {
    return cudaSuccess;
  }
  return refuse_outside(call, role, address, size);
}

bool still_there(const ApiCall& call, const char* role, const void* pointer, size_t size) {
  const DeviceMemory& memory = DeviceMemory::instance();
  const uint64_t address = address_of(pointer);
  const Allocation* allocation = memory.allocation_at(address);
  if (!memory.in_arena(address) || allocation == nullptr || !allocation->freed) return true;
  if (allocation->state == AllocationState::kFreed) {
    refuse_outside(call, role, address, size);
    return false;
  }
  call.report("memcheck", "use-before-allocation",
              call.description() + " was given as its " + role + " " + bytes(size) + " of " +
                  describe(*allocation) +
                  ", which does not exist yet: the stream that allocates it has not got there. "
                  "Nothing was done. Let this stream wait for that one (an event after the "
                  "allocation).");
  return false;
}

}  // namespace warplings::sim
