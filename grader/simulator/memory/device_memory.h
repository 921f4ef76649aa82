// Device memory: one arena of virtual addresses, allocations, and a shadow that knows for every
// byte whether it may be touched and whether it has been written.
//
// The arena is one memfd, mapped twice: the program's view (the addresses that cudaMalloc returns,
// PROT_NONE unless the memory is managed or mapped, so that host access faults) and the simulator's
// view at a constant offset, always writable. `view(address)` converts.
#ifndef WARPLINGS_SIMULATOR_MEMORY_DEVICE_MEMORY_H_
#define WARPLINGS_SIMULATOR_MEMORY_DEVICE_MEMORY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace warplings::sim {

enum class AllocationKind : uint8_t { kDevice, kManaged, kHostPinned, kModule };

inline constexpr int kMaxDevices = 16;
inline constexpr uint32_t kEveryDevice = (1u << kMaxDevices) - 1;

// Who may have an allocation, apart from its red zones.
enum class AllocationState : uint8_t {
  kLive,
  kFreed,     // cudaFree, or cudaFreeAsync when its stream got there
  kPromised,  // cudaMallocAsync, a graph's node: its stream has not got there yet
};

struct Allocation {
  uint64_t start = 0;  // device address = program's address
  uint64_t size = 0;   // bytes asked for
  AllocationKind kind = AllocationKind::kDevice;
  // Not kLive: nothing may touch it. `freed` is what the hot path asks.
  bool freed = false;
  AllocationState state = AllocationState::kLive;
  int device = 0;                  // the owner
  uint32_t access = kEveryDevice;  // one bit for each device whose kernels may touch it
  bool reserved = false;           // promised once: may exist again after it was freed
  bool own_access = false;         // of a memory pool: peer access between devices leaves it alone
  bool sparse = false;             // made by allocate_sparse
  bool repeats = false;            // made by allocate_repeated
  bool large = false;              // its shadow takes room where it is written only
  bool has_red_zones = false;
  bool constant = false;  // kernels may not write it
  bool track_undefined =
      true;                  // false: host can write it behind our back (managed, pinned, module)
  std::string name;          // from wsim_name_allocation or the variable's name
  std::string allocated_at;  // "file.cu:12" of the call that made it, "" if unknown
  std::string freed_at;      // of the call that freed it, "" if unknown
  uint64_t id = 0;           // order of allocation, from 1
  uint64_t end() const { return start + size; }
};

class DeviceMemory {
 public:
  DeviceMemory();
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  static DeviceMemory& instance();  // of the current machine

  // The program's view of the first machine, at 32 TiB: AddressSanitizer keeps its shadow just
  // above 16 TiB. Those of others follow it.
#ifdef __SANITIZE_THREAD__  // its programs have the addresses below 512 GiB: three machines
  static constexpr uint64_t kBase = 0x1000000000;
  static constexpr uint64_t kSize = 0x1000000000;
  static constexpr uint64_t kViewOffset = 3 * kSize;
#else
  static constexpr uint64_t kBase = 0x200000000000;
  static constexpr uint64_t kSize = 0x4000000000;         // 256 GiB of addresses, memory on demand
  static constexpr uint64_t kViewOffset = 0x10000000000;  // simulator's view = address + offset
#endif
  static constexpr size_t kMostArenas = kViewOffset / kSize;
  static constexpr uint64_t kPage = 64 * 1024;  // gap between allocations, at least
  static constexpr uint64_t kAlignment = 256;

  // So much memory is for sale from now on, for each device: at first GRADE_SIM_MEMORY or 8 GiB.
  void sell(uint64_t bytes) { limit_ = std::min(bytes, kSize / 2); }
  // Device memory for sale. Returns 0 when it is spent.
  uint64_t allocate(uint64_t size, AllocationKind kind, const std::string& name = "",
                    int device = 0);
  // Memory that holds only what is touched, of any size: it is not for sale, so nothing else gets
  // less, and neither it nor its shadow takes room before it is used. An index that overflowed in
  // 32 bits leads to nobody's memory. 0: there are no addresses left.
  uint64_t allocate_sparse(uint64_t size, int device);
  // The same, and every byte holds a value: a pattern of `period` bytes, a multiple of the system's
  // page, again and again. It takes room once; what is written to it is kept apart.
  uint64_t allocate_repeated(uint64_t size, const void* pattern, uint64_t period, int device);
  bool has_sparse() const { return sparse_ > 0; }
  enum class FreeResult { kOk, kNotAnAllocation, kDoubleFree, kInterior };
  FreeResult free(uint64_t address);
  // Managed variables: the program may touch them at their device address.
  void make_host_visible(uint64_t address);
  void make_constant(uint64_t address);
  void reset(int device);  // cudaDeviceReset: frees all but module variables

  // An allocation that a stream makes and frees later: addresses now, memory when its turn comes.
  void promise(uint64_t address);  // kLive -> kPromised; its addresses stay when it is freed
  void abandon(uint64_t address);  // it will not exist again
  void fulfil(uint64_t address);   // -> kLive, its bytes unwritten
  // True if all bytes lie in one allocation that is live or will be.
  bool is_promised_or_live(uint64_t address, uint64_t size) const;

  // Which devices' kernels may touch what. A launch says on which device it runs.
  void set_access(uint64_t address, uint32_t devices);
  void set_access_of_device(int owner, uint32_t devices);
  void set_running_device(int device) { running_bit_ = 1u << device; }
  uint32_t running_bit() const { return running_bit_; }

  uint64_t base() const { return base_; }
  bool in_arena(uint64_t address) const { return address - base_ < kSize; }
  // From the start of its arena: where the shadow has the bit of the byte.
  static constexpr uint64_t offset_of(uint64_t address) { return address & (kSize - 1); }
  uint8_t* view(uint64_t address) const {
    return reinterpret_cast<uint8_t*>(address + kViewOffset);
  }
  // The same pages once more, at an address that the system chooses; MAP_FAILED if it has none.
  void* another_view(uint64_t address, uint64_t bytes) const;
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
  // Offset of the first byte that holds a value, or `size`. Skips memory that nothing has touched.
  uint64_t find_defined(uint64_t address, uint64_t size) const;
  // Bit i = byte i of up to 16 bytes is undefined.
  uint32_t undefined_bytes(uint64_t address, unsigned size) const;
  void set_undefined_bytes(uint64_t address, unsigned size, uint32_t mask);
  void copy_definedness(uint64_t to, uint64_t from, uint64_t size);
  void mark_red_zone(uint64_t address, uint64_t size, bool on);
  void set_name(uint64_t address, const std::string& name);
  void set_allocated_at(uint64_t address, const std::string& where);
  void set_freed_at(uint64_t address, const std::string& where);

  // Grows with everything that changes what is allocated, who may touch it, or what is known to be
  // written: so with every copy, fill and call of a library. Stores of kernels need not count.
  uint64_t version() const { return version_; }

  std::vector<Allocation> live() const;  // without module variables
  std::vector<Allocation> module_variables() const;
  uint64_t bytes_in_use(int device = 0) const { return in_use_[static_cast<size_t>(device)]; }
  uint64_t bytes_total() const { return limit_; }

  // Raw shadow for the hot path: bit offset_of(address) of each.
  const uint64_t* undefined_bits() const { return undefined_; }
  uint64_t* undefined_bits() { return undefined_; }
  const uint64_t* red_bits() const { return red_; }

 private:
  const Allocation* lookup(uint64_t address) const;  // as allocation_at, lock held
  bool in_live_allocation(uint64_t address, uint64_t size) const;
  Allocation* enter(Allocation allocation);
  void retire(Allocation* allocation);
  bool show_repeated(const Allocation& allocation, const void* pattern, uint64_t period);
  uint64_t find_addresses(uint64_t bytes);  // 0 if there is no gap that large
  void forget_freed();

  mutable std::mutex mutex_;
  std::map<uint64_t, Allocation> allocations_;  // by start
  Allocation** page_table_ = nullptr;           // arena page -> allocation; sparse, like the shadow
  const uint64_t base_;
  uint64_t next_;
  uint64_t limit_;
  std::array<uint64_t, kMaxDevices> in_use_{};
  uint32_t running_bit_ = 1;
  uint64_t next_id_ = 1;
  uint64_t version_ = 0;
  int fd_ = -1;                    // of the arena
  int sparse_ = 0;                 // live allocations that are
  uint64_t* undefined_ = nullptr;  // mmap, zero (= defined) until marked
  uint64_t* red_ = nullptr;
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_MEMORY_DEVICE_MEMORY_H_
