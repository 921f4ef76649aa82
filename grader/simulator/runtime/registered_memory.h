// Host memory that cudaHostRegister has pinned.
//
// A kernel reaches it at an address of its own (cudaDevAttrCanUseHostPointerForRegisteredMem is 0),
// which cudaHostGetDevicePointer makes when it is first asked: from then on the pages of the
// program and those of an allocation in device memory are the same. Bounds, lifetime and races are
// checked there as everywhere.
#ifndef WARPLINGS_SIMULATOR_RUNTIME_REGISTERED_MEMORY_H_
#define WARPLINGS_SIMULATOR_RUNTIME_REGISTERED_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace warplings::sim {

class RegisteredMemory {
 public:
  static RegisteredMemory& instance();  // of the current machine

  // False if a part of the range is registered already, or no range starts there.
  bool add(const void* pointer, size_t size);
  bool remove(const void* pointer);
  // Gives every range its own pages back; they stay registered. Before device memory is reset.
  void unmap_all();

  bool covers(uint64_t address) const;
  size_t size_at(const void* pointer) const;  // of the range that starts there; 0: none does
  size_t count() const { return ranges_.size(); }

  // The device address of a byte that is covered. 0 if its pages cannot be shared; `reason` says
  // why.
  uint64_t device_address(uint64_t address, std::string* reason);

 private:
  struct Range {
    uint64_t end = 0;
    uint64_t mapped = 0;  // the allocation in device memory: its start stands for the first page's
  };
  static void unmap(uint64_t start, Range* range);

  std::map<uint64_t, Range> ranges_;  // by start
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_REGISTERED_MEMORY_H_
