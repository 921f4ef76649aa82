// Device memory: one arena of virtual addresses, allocations, and a shadow that knows for every
// byte whether it may be touched and whether it has been written.
//
// The arena is one memfd, mapped twice: the program's view (the addresses that cudaMalloc returns,
// PROT_NONE unless the memory is managed or mapped, so that host access faults) and the simulator's
// view at a constant offset, always writable. `view(address)` converts.
#ifndef WARPLINGS_SIMULATOR_MEMORY_DEVICE_MEMORY_H_
#define WARPLINGS_SIMULATOR_MEMORY_DEVICE_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace warplings::sim {

enum class AllocationKind : uint8_t { kDevice, kManaged, kHostPinned, kModule };

struct Allocation {
  uint64_t start = 0;  // device address = program's address
  uint64_t size = 0;   // bytes asked for
  AllocationKind kind = AllocationKind::kDevice;
  bool freed = false;
  bool has_red_zones = false;
  bool track_undefined =
      true;                  // false: host can write it behind our back (managed, pinned, module)
  std::string name;          // from wsim_name_allocation or the variable's name
  std::string allocated_at;  // "file.cu:12" of the call that made it, "" if unknown
  uint64_t id = 0;           // order of allocation, from 1
  uint64_t end() const { return start + size; }
};

class DeviceMemory {
 public:
  static DeviceMemory& instance();  // construct-on-first-use, never destroyed

  static constexpr uint64_t kBase = 0x100000000000;       // program's view, 16 TiB mark
  static constexpr uint64_t kSize = 0x1000000000;         // 64 GiB of addresses, memory on demand
  static constexpr uint64_t kViewOffset = 0x10000000000;  // simulator's view = address + offset
  static constexpr uint64_t kPage = 64 * 1024;            // gap between allocations, at least
  static constexpr uint64_t kAlignment = 256;

  // Device memory for sale: GRADE_SIM_MEMORY or 8 GiB. Returns 0 when it is spent.
  uint64_t allocate(uint64_t size, AllocationKind kind, const std::string& name = "");
  enum class FreeResult { kOk, kNotAnAllocation, kDoubleFree, kInterior };
  FreeResult free(uint64_t address);
  // Managed variables: the program may touch them at their device address.
  void make_host_visible(uint64_t address);
  void reset();  // cudaDeviceReset: frees all but module variables

  bool in_arena(uint64_t address) const { return address - kBase < kSize; }
  uint8_t* view(uint64_t address) const {
    return reinterpret_cast<uint8_t*>(address + kViewOffset);
  }
  // The allocation whose pages hold `address` (live or freed, the address may lie past its end);
  // nullptr if the page was never used. For checks, use `readable` first.
  const Allocation* allocation_at(uint64_t address) const;
  // The closest live allocation below or above, for messages; nullptr if none.
  const Allocation* nearest(uint64_t address) const;
  // True if all bytes lie in one live allocation and outside its red zones.
  bool accessible(uint64_t address, uint64_t size) const;

  // Shadow. A set bit in undefined_ means "not written". Ranges may span pages of one allocation.
  void mark_undefined(uint64_t address, uint64_t size);
  void mark_defined(uint64_t address, uint64_t size);
  bool all_defined(uint64_t address, uint64_t size) const;
  // Bit i = byte i of up to 16 bytes is undefined.
  uint32_t undefined_bytes(uint64_t address, unsigned size) const;
  void set_undefined_bytes(uint64_t address, unsigned size, uint32_t mask);
  void copy_definedness(uint64_t to, uint64_t from, uint64_t size);
  void mark_red_zone(uint64_t address, uint64_t size, bool on);
  void set_name(uint64_t address, const std::string& name);
  void set_allocated_at(uint64_t address, const std::string& where);

  std::vector<Allocation> live() const;  // without module variables
  std::vector<Allocation> module_variables() const;
  uint64_t bytes_in_use() const { return in_use_; }
  uint64_t bytes_total() const { return limit_; }

  // Raw shadow for the hot path: bit (address - kBase) of each.
  const uint64_t* undefined_bits() const { return undefined_; }
  uint64_t* undefined_bits() { return undefined_; }
  const uint64_t* red_bits() const { return red_; }

 private:
  DeviceMemory();
  const Allocation* lookup(uint64_t address) const;  // as allocation_at, lock held
  bool in_live_allocation(uint64_t address, uint64_t size) const;
  void retire(Allocation* allocation);
  uint64_t find_addresses(uint64_t bytes);  // 0 if there is no gap that large
  void forget_freed();

  mutable std::mutex mutex_;
  std::map<uint64_t, Allocation> allocations_;  // by start
  Allocation** page_table_ = nullptr;           // arena page -> allocation; sparse, like the shadow
  uint64_t next_ = kBase + kPage;
  uint64_t limit_ = 0;
  uint64_t in_use_ = 0;
  uint64_t next_id_ = 1;
  uint64_t* undefined_ = nullptr;  // mmap, zero (= defined) until marked
  uint64_t* red_ = nullptr;
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_MEMORY_DEVICE_MEMORY_H_
